import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { within } from "../../base/deadline.ts";
import { errnoOf, isClocheError, messageOf } from "../../base/errors.ts";
import { type ProcessIdentity, identifyProcess, isProcessAlive, signalProcess } from "../../base/process-identity.ts";
import { guestProgram } from "../../walls/guest-program.ts";
import { machineFailure } from "./machine-failure.ts";
import type { MachineCommand } from "./qemu-arguments.ts";

/** An emulator that starts has said why it cannot long before. */
const MAX_WORDS = 64 * 1024;
const LAST_WORDS = 2000;
const KILL_PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 5;
/** Its connections break a moment before an emulator is gone. */
const LAST_WORDS_MS = 500;

/** The emulator of a machine. It outlives the daemon; one that was adopted is known by its identity only. */
export class MachineProcess {
  readonly identity: ProcessIdentity;
  readonly #exited: Promise<void> | undefined;

  constructor({ pid, startTicks }: ProcessIdentity, exited?: Promise<void>) {
    this.identity = { pid, startTicks };
    this.#exited = exited;
  }

  alive(): boolean {
    return isProcessAlive(this.identity);
  }

  async kill(): Promise<void> {
    signalProcess(this.identity, "SIGKILL");
    await this.hasEnded(KILL_PATIENCE_MS);
  }

  async hasEnded(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs;
    if (this.#exited) await Promise.race([this.#exited, new Promise((done) => setTimeout(done, withinMs).unref())]);
    // The kernel tells nobody but the parent; for an adopted machine a look every few milliseconds has to do.
    while (this.alive() && Date.now() < deadline) await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    return !this.alive();
  }
}

export interface Launched {
  readonly process: MachineProcess;
  /** Rejects, with its last words, when the emulator ends. */
  readonly ended: Promise<never>;
}

/** Starts an emulator in a session of its own; resolves when its sockets are there. `user` is whom it becomes, where root starts it. */
export async function launchMachine(
  directory: string,
  command: MachineCommand,
  user: number | undefined,
): Promise<Launched> {
  const words = [
    ...["emulator", "--directory", directory],
    ...(user === undefined ? [] : ["--user", String(user)]),
    ...command.launcher,
  ];
  const child = spawn(guestProgram(), [...words, "--", ...command.program], {
    cwd: "/",
    detached: true, // its own session: no signal of the daemon's terminal reaches it
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", ...command.env },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  child.unref();
  const said = listen(child);
  const exited = new Promise<void>((done) => {
    child.once("close", () => done()); // when its last words have come
    child.once("error", () => done());
  });
  const ended = exited.then((): never => {
    throw machineFailure(said());
  });
  ended.catch(() => undefined); // once started, an end is the guest connection's to tell
  await reported(child);
  const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (!identity) throw machineFailure(said());
  return { process: new MachineProcess(identity, exited), ended };
}

/** What a machine has to do within that time. When it ends instead, its last words tell more than a connection that broke. */
export async function whileItLives<Result>(
  { process, ended }: Launched,
  ms: number,
  work: Promise<Result>,
  late: () => Error,
): Promise<Result> {
  try {
    return await within(ms, Promise.race([work, ended]), late);
  } catch (error) {
    if (isBroken(error) && (await process.hasEnded(LAST_WORDS_MS))) await ended;
    throw error;
  }
}

/** Whether a connection broke, or could not be made. */
const isBroken = (error: unknown): boolean =>
  isClocheError(error)
    ? error.code === "SANDBOX_LOST"
    : ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOENT"].includes(errnoOf(error) ?? "");

/** Waits for the launcher's word on its status pipe: `B`, or `E` and why not. */
function reported(child: ChildProcess): Promise<void> {
  return new Promise((done, fail) => {
    const status = child.stdio[3];
    let text = "";
    child.once("error", (error) => fail(machineFailure(messageOf(error))));
    if (!(status instanceof Socket)) return;
    status.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.startsWith("B")) done();
    });
    status.once("error", () => undefined);
    status.once("close", () => fail(machineFailure(text.replace(/^E/, "") || "the launcher ended")));
    status.unref();
  });
}

/**
 * Keeps the last that an emulator prints, which a guest can make it do without end.
 *
 * SECURITY: so it goes to no file; and after the first of it nobody listens, also when it outlives the daemon, and it is lost (G-15).
 */
function listen(child: ChildProcess): () => string {
  let text = "";
  let count = 0;
  for (const stream of [child.stdout, child.stderr]) {
    if (!(stream instanceof Socket)) continue;
    stream.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-LAST_WORDS);
      count += chunk.length;
      if (count > MAX_WORDS) stream.destroy();
    });
    stream.on("error", () => undefined);
    stream.unref();
  }
  return () => text.trim();
}

/** The emulator that the launcher recorded before it did anything else; for a machine without a record in the store. */
export function recordedMachine(directory: string): MachineProcess | undefined {
  try {
    const [pid, startTicks] = readFileSync(join(directory, "wall.pid"), "latin1").trim().split(" ");
    return pid === undefined || startTicks === undefined
      ? undefined
      : new MachineProcess({ pid: Number(pid), startTicks });
  } catch {
    return undefined;
  }
}
