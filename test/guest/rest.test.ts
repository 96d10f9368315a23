import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ownProgram } from "../../src/base/own-program.ts";
import { childrenOf } from "../../src/base/process-identity.ts";
import { eventually } from "../helpers/installation.ts";
import { RealGuest, shell } from "./real-guest.ts";

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

it("what waits beside a command that runs for long takes less memory after a while, and still tells its end", async () => {
  await using guest = await RealGuest.start();
  const mapped = "sed -n 's/^RssFile:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$PPID/status";
  const script = `before=$(${mapped}); while [ "$(${mapped})" -ge "$before" ]; do sleep 0.05; done; exit 3`;
  const { exit } = await shell(await guest.client(), script, { timeoutMs: 30_000 });
  expect(exit).toMatchObject({ kind: "exited", code: 3, timedOut: false });
});
