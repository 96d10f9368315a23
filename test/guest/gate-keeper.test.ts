import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ownProgram } from "../../src/base/own-program.ts";
import { childrenOf } from "../../src/base/process-identity.ts";
import { eventually } from "../helpers/installation.ts";

/** Of programs and libraries, in KiB. */
const mappedKib = (pid: number): number =>
  Number(/^RssFile:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]);

it("a keeper whose gate runs well takes less memory after a while, and still starts its gate again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cl-gk-"));
  const words = ["gate-keeper", "--directory", folder, "--", "/bin/sleep", "1000"];
  const keeper = spawn(ownProgram(), words, { stdio: ["ignore", "ignore", "inherit", "pipe"] });
  try {
    const pid = keeper.pid ?? 0;
    const gate = () => childrenOf(pid).at(0)?.pid ?? 0;
    await eventually(() => expect(gate()).toBeGreaterThan(0));
    const [first, before] = [gate(), mappedKib(pid)];
    await eventually(() => expect(mappedKib(pid)).toBeLessThan(before));
    process.kill(first, "SIGKILL");
    await eventually(() => expect([0, first]).not.toContain(gate()));
  } finally {
    keeper.kill();
    await once(keeper, "exit");
    rmSync(folder, { recursive: true });
  }
});
