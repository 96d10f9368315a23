import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { probeServer } from "./probe-server.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cloche-probe-"))));
afterEach(() => rmSync(folder, { recursive: true }));

async function probe(source: string) {
  const program = join(folder, "server.cjs");
  writeFileSync(program, source);
  return await probeServer({ node: process.execPath, program, env: process.env });
}

const ANSWER = 'console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: {} }))';

it("is content with an answer to the first question, and waits for the server's end", async () => {
  const ended = join(folder, "ended");
  const source = `process.stdin.once("data", (line) => ${ANSWER});
    process.stdin.on("end", () => require("node:fs").writeFileSync(${JSON.stringify(ended)}, ""));`;
  expect(await probe(source)).toEqual({
    answers: true,
    detail: expect.stringMatching(/^answers in \d+ ms$/) as string,
  });
  rmSync(ended);
});

it.each([
  ["ends at once", 'console.error("no store\\nmore"); process.exit(1)', "no store"],
  ["says nothing", "", "It ended without an answer"],
  [
    "prints what is no protocol",
    'console.log("Welcome!"); process.stdin.resume()',
    'It printed "Welcome!", which is no answer',
  ],
])("tells of a server that %s", async (_, source, detail) => {
  expect(await probe(source)).toEqual({ answers: false, detail });
});

it("tells of a program that is not there", async () => {
  const probed = await probeServer({ node: join(folder, "gone"), program: "x", env: {} });
  expect(probed).toEqual({ answers: false, detail: expect.stringContaining("ENOENT") as string });
});
