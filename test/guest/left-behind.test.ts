import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { collect, command, RealGuest, run, shell } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
beforeAll(async () => {
  guest = await RealGuest.start();
  client = await guest.client();
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

/** Names of everything that runs in the sandbox. */
async function running(): Promise<string[]> {
  const { stdout } = await shell(client, "cat /proc/[0-9]*/comm 2>/dev/null");
  return stdout.split("\n");
}

// In a file of its own: the emulator that runs the program for another processor lets no process take in orphans, and so cannot show this.
describe("what commands leave behind", () => {
  it("in sessions of their own ends at their time-out", async () => {
    const script = "setsid sh -c 'trap \"\" TERM; (sleep 311; :) & sleep 311' & sleep 311";
    const { exit } = await shell(client, script, { timeoutMs: 200, graceMs: 100 });
    expect(exit.timedOut).toBe(true);
    expect((await running()).filter((name) => name === "sleep")).toEqual([]);
  });

  it("is killed with them when asked", async () => {
    const process = client.spawn(command(["sh", "-c", "setsid sleep 312 & echo ready; wait"]));
    const result = collect(process);
    await process.started;
    while (!(await running()).includes("sleep")) await client.ping();
    process.signal(9, "tree");
    expect((await result).exit.kind).toBe("signalled");
    expect(await running()).not.toContain("sleep");
  });

  it("is left alone when they ended in time", async () => {
    const { exit } = await shell(client, "setsid sleep 313 >/dev/null 2>&1 & exit 0", { timeoutMs: 60_000 });
    expect(exit.code).toBe(0);
    while (!(await running()).includes("sleep")) await client.ping(); // it may not have got to it yet
    await shell(client, "kill -9 $(grep -lx sleep /proc/[0-9]*/comm | cut -d/ -f3)");
  });

  it("is nothing, after a thousand of them", async () => {
    for (let times = 0; times < 1000; times++) await run(client, ["true"]);
    expect((await client.processes()).filter(({ exit }) => exit !== undefined)).toEqual([]);
    const { stdout } = await shell(client, "ls -d /proc/[0-9]* | wc -l");
    expect(Number(stdout)).toBeLessThan(10);
  });
});
