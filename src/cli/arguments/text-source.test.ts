import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMemoryIo } from "../../../test/helpers/memory-io.ts";
import { readTextSource } from "./text-source.ts";

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "cloche-text-"))));
afterEach(() => rm(folder, { recursive: true }));

const read = (source: string, io = createMemoryIo()) =>
  readTextSource({ ...io, stdin: io.stdin, cwd: folder }, source, ["x"], "--text-file");

it("reads a file relative to the current folder, with its byte order mark", async () => {
  await writeFile(join(folder, "a.txt"), "\uFEFFgrüße\r\n");
  expect(await read("a.txt")).toBe("\uFEFFgrüße\r\n");
});

it("reads standard input for -", async () => {
  const io = createMemoryIo();
  io.stdin.end("typed");
  expect(await read("-", io)).toBe("typed");
});

it("refuses what is missing, a folder, or no text", async () => {
  await writeFile(join(folder, "binary"), Buffer.from([0xff, 0xfe, 0x00]));
  await expect(read("missing")).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining("no such file") as string,
  });
  await expect(read(".")).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining("it is a folder") as string,
  });
  await expect(read("/dev/zero")).rejects.toMatchObject({
    code: "USAGE",
    message: 'Cannot read --text-file "/dev/zero": it has more than 64 MiB',
  });
  await expect(read("binary")).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining("not UTF-8") as string,
  });
});
