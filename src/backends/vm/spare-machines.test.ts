import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silentLog } from "../../base/log.ts";
import { identifyProcess } from "../../base/process-identity.ts";
import { REMEMBERED_MS } from "./demand.ts";
import type { MachineFolder } from "./machine-folder.ts";
import { type Launched, MachineProcess } from "./machine-process.ts";
import { SpareMachines } from "./spare-machines.ts";

/** A machine that others keep busy takes its time. */
const PATIENCE_MS = 30_000;

/** Real processes that do nothing stand for emulators. Time goes as it does, and a minute passes when a test says so. */
let folder: string;
let spares: SpareMachines;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], shouldAdvanceTime: true });
  folder = mkdtempSync(join(tmpdir(), "cl-sm-"));
  spares = new SpareMachines(folder, 3, silentLog);
});
afterEach(async () => {
  await spares.close();
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

async function launch(place: MachineFolder): Promise<Launched> {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  const identity = identifyProcess(child.pid ?? 0);
  if (!identity) throw new Error("it does not run");
  mkdirSync(place.emulator);
  writeFileSync(join(place.emulator, "wall.pid"), `${identity.pid} ${identity.startTicks}`);
  const exited = once(child, "exit").then(() => undefined);
  return { process: new MachineProcess(identity, exited), ended: new Promise(() => undefined) };
}

const waiting = (): number => readdirSync(folder).length;
const untilWaiting = (count: number): Promise<void> =>
  vi.waitFor(() => expect(waiting()).toBe(count), { timeout: PATIENCE_MS, interval: 10 });

it("one waits for who comes next, and another after it was taken", async () => {
  expect(await spares.take("a")).toBeUndefined();
  spares.wish("a", launch);
  await untilWaiting(1);
  const first = await spares.take("a");
  expect(first?.machine.process.alive()).toBe(true);
  spares.wish("a", launch);
  const second = await vi.waitFor(async () => {
    const spare = await spares.take("a");
    expect(spare?.machine.process.alive()).toBe(true);
    return spare;
  }, PATIENCE_MS);
  expect(second?.folder.path).not.toBe(first?.folder.path);
  for (const spare of [first, second]) await spare?.machine.process.kill();
});

it("as many wait as came at once, within bounds, and one again after a while", async () => {
  for (let asked = 0; asked < 5; asked++) await spares.take("a");
  spares.wish("a", launch);
  await untilWaiting(3);
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(REMEMBERED_MS / 4);
    expect(waiting()).toBe(1);
  }, PATIENCE_MS);
});

it("one that is being made is taken by who comes meanwhile, and is told to hurry", async () => {
  await spares.take("a");
  let hurried = false;
  let go = (): void => undefined;
  const asked = new Promise<void>((done) => (go = done));
  spares.wish("a", async (place, { hurry }) => {
    const machine = await launch(place);
    await asked;
    hurried ||= hurry();
    return machine;
  });
  await untilWaiting(1);
  const taking = spares.take("a");
  const another = spares.take("a");
  go();
  expect(await another).toBeUndefined();
  const spare = await taking;
  expect([spare?.machine.process.alive(), hurried]).toEqual([true, true]);
  await spare?.machine.process.kill();
});

it("those of another kind end when that is used, also one that was being made", async () => {
  await spares.take("a");
  await spares.take("a");
  const made: Launched[] = [];
  const make = async (place: MachineFolder): Promise<Launched> => {
    const machine = await launch(place);
    made.push(machine);
    return machine;
  };
  spares.wish("a", make);
  await untilWaiting(2);
  spares.wish("b", make);
  await untilWaiting(1);
  await vi.waitFor(() => expect(made.filter(({ process }) => process.alive())).toHaveLength(1), PATIENCE_MS);
  expect(await spares.take("a")).toBeUndefined();
});

it("one that cannot be made leaves nothing, and who takes it starts without", async () => {
  await spares.take("a");
  spares.wish("a", async (place) => {
    await launch(place);
    throw new Error("no room");
  });
  await vi.waitFor(() => expect(waiting()).toBe(1), { timeout: PATIENCE_MS, interval: 1 });
  expect(await spares.take("a")).toBeUndefined();
  await untilWaiting(0);
});

it("none is left when what they are thawed from is gone, or at the end", async () => {
  await spares.take("a");
  spares.wish("a", launch);
  await untilWaiting(1);
  await spares.forget("another");
  expect(waiting()).toBe(1);
  await spares.forget("a");
  expect(waiting()).toBe(0);
  spares.wish("a", launch);
  await untilWaiting(1);
  await spares.close();
  expect(waiting()).toBe(0);
  spares.wish("a", launch);
  await vi.advanceTimersByTimeAsync(REMEMBERED_MS);
  expect(waiting()).toBe(0);
});

/** Resolves when one is being made whose guest was taken over before it was saved, and never says that it is ready. */
const wishSilent = (): Promise<void> =>
  new Promise((begin) => {
    spares.wish("saved", (_place, { signal }) => {
      begin();
      return new Promise((_done, fail) => signal.addEventListener("abort", () => fail(new Error("given up"))));
    });
  });

it("G-10 a machine that never gets ready does not hold up the end of the daemon", async () => {
  await wishSilent();
  await spares.close();
  expect(waiting()).toBe(0);
});

it("G-10 a machine that never gets ready does not hold up the removal of what it was saved as, and who waits for it starts without", async () => {
  await wishSilent();
  const taking = spares.take("saved");
  await spares.forget("saved");
  expect(waiting()).toBe(0);
  expect(await taking).toBeUndefined();
});

it("who gives up waiting for one that is being made is let go at once, and the machine ends", async () => {
  await spares.take("a");
  const made: Launched[] = [];
  let go = (): void => undefined;
  const asked = new Promise<void>((done) => (go = done));
  spares.wish("a", async (place) => {
    made.push(await launch(place));
    await asked;
    return made[0];
  });
  await vi.waitFor(() => expect(made).toHaveLength(1), PATIENCE_MS);
  const leaving = new AbortController();
  const taking = spares.take("a", leaving.signal);
  leaving.abort();
  await expect(taking).rejects.toMatchObject({ code: "CANCELLED" });
  go();
  await spares.drop();
  expect([waiting(), made[0]?.process.alive()]).toEqual([0, false]);
});

it("one that is not wished any more is not begun", async () => {
  const begun = wishSilent();
  await spares.forget("saved");
  await vi.advanceTimersByTimeAsync(1500);
  expect(await Promise.race([begun.then(() => "begun"), Promise.resolve("left")])).toBe("left");
});
