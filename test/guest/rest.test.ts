import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ownProgram } from "../../src/base/own-program.ts";
import { childrenOf } from "../../src/base/process-identity.ts";
import { nameOf } from "../helpers/gate-of.ts";
import { eventually, processesNaming } from "../helpers/installation.ts";
import { RealGuest, collect, command } from "./real-guest.ts";

/** Of programs and libraries, in KiB, as the page tables have it: `RssFile` may be 256 KiB behind on each processor. */
const mappedKib = (pid: number): number =>
  [...readFileSync(`/proc/${pid}/smaps_rollup`, "latin1").matchAll(/^(?:Shared|Private)_Clean:\s+(\d+) kB/gm)].reduce(
    (sum, [, size]) => sum + Number(size),
    0,
  );

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
  const running = (await guest.client()).spawn(command(["sh", "-c", "read -r line; exit 3"], { stdin: true }));
  const ended = collect(running);
  await running.started;
  const pids = processesNaming(guest.directory).map((line) => Number.parseInt(line, 10));
  const shim = pids.find((pid) => nameOf(pid) === "cloche-shim") ?? 0;
  const before = mappedKib(shim);
  await eventually(() => expect(mappedKib(shim)).toBeLessThan(before));
  running.endInput();
  expect((await ended).exit).toMatchObject({ kind: "exited", code: 3 });
});
