import { spawn } from "node:child_process";
import { mkdtempSync, openSync, closeSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openInodes } from "./open-files.ts";

it("finds what another process has open, and not what nobody has", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cloche-open-"));
  const [held, idle] = [join(folder, "held"), join(folder, "idle")];
  for (const path of [held, idle]) writeFileSync(path, "x");
  const [used, unused] = [statSync(held).ino, statSync(idle).ino];
  const file = openSync(held, "r");
  const child = spawn("cat", { stdio: ["pipe", "ignore", "ignore", file] });
  try {
    await new Promise((done) => child.once("spawn", done));
    closeSync(file);
    const open = await openInodes();
    expect([open.has(used), open.has(unused)]).toEqual([true, false]);
    expect(open.has(statSync(process.execPath).ino)).toBe(true); // mapped, and not open
    const ended = new Promise((done) => child.once("close", done));
    child.stdin?.end();
    await ended;
    expect((await openInodes()).has(used)).toBe(false);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true });
  }
});
