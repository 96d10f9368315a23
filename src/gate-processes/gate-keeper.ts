import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import { ownFile, ownProgram } from "../base/own-program.ts";
import { workspaceDirectory } from "../base/paths.ts";
import { type ProcessIdentity, childrenOf, isProcessAlive, signalProcess } from "../base/process-identity.ts";
import { removeTree } from "../base/remove-tree.ts";
import { failure } from "../model/error-codes.ts";
import { LOG_NAME } from "./gate-log-files.ts";

const END_PATIENCE_MS = 5000;
/** The kernel tells nobody but the parent. */
const LOOK_AGAIN_MS = 5;
/** Beyond that it ends, and its keeper starts it again. */
const HEAP_MIB = 192;
/** Of each half of what is new: what a request leaves is small, and a larger one is memory that never comes back. */
const YOUNG_MIB = 4;

/**
 * The gate says when buffers are spent (`collector.ts`), and its newest objects are few: help by other threads costs more than it does. One thread beside its own is enough
 * for the compiler; four are memory of a gate that does nothing.
 */
const COLLECTOR = ["--expose-gc", "--no-parallel-scavenge", "--v8-pool-size=1"];
/** A seventh of V8's own: a gate does the same few things for each request, so what it has done a few times is worth compiling (docs/decisions/0040). */
const COMPILER = ["--interrupt-budget=10000"];

export const gateFolder = (home: string, workspaceId: string): string =>
  join(workspaceDirectory(home, workspaceId), "gate");
export const controlSocket = (folder: string): string => join(folder, "control.sock");

/** Where a gate keeps repositories, on the host. */
const gitFolder = (folder: string): string => join(folder, "git");
/** Where it sees them: root's gate can enter no folder of the home, and nothing is made for it anywhere else (`gate_keeper.c`). */
export const seenGitFolder = (folder: string): string => (process.getuid?.() === 0 ? "/sys/kernel" : gitFolder(folder));

/**
 * Starts a keeper in its folder, and with it a gate; resolves once its socket is bound. It outlives this process. It holds the folder open and knows no path, so the folder
 * may be moved.
 */
export async function startKeeper(
  folder: string,
  program: string,
  { hasGit = false }: { hasGit?: boolean } = {},
): Promise<void> {
  makeFolder(folder);
  // What a gate before it had is another user's, and only a copy.
  await removeTree(gitFolder(folder));
  if (hasGit) makeFolder(gitFolder(folder));
  // To be read too: the gate copies it before it begins anew.
  const log = openSync(join(folder, LOG_NAME), "a+", 0o600);
  // SECURITY: nothing that a gate must know is in its arguments or its environment (G-28)
  const gate = [
    process.execPath,
    `--max-old-space-size=${HEAP_MIB}`,
    `--max-semi-space-size=${YOUNG_MIB}`,
    ...COLLECTOR,
    ...COMPILER,
    program,
    folder,
  ];
  let child: ChildProcess;
  try {
    child = spawn(ownProgram(), ["gate-keeper", "--directory", folder, "--", ...gate], {
      cwd: "/",
      detached: true, // its own session: no signal of the daemon's terminal reaches it
      env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", ...preloaded() },
      stdio: ["ignore", log, log, "pipe"],
    });
  } finally {
    closeSync(log);
  }
  child.unref();
  await bound(child);
}

/** The loader takes a space or a colon for the end of a name; where the package lies in such a folder, only root's gates are closed to others. */
function preloaded(): Record<string, string> {
  const library = ownFile("gate-process.so");
  return /[ :]/.test(library) ? {} : { LD_PRELOAD: library };
}

/** Not the folder above it: a workspace that was removed meanwhile gets no gate. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw cannotStart(messageOf(error));
  }
}

/** Waits for the keeper's word on its status pipe: `B`, or `E` and why not. */
function bound(child: ChildProcess): Promise<void> {
  return new Promise((done, fail) => {
    const status = child.stdio[3];
    let text = "";
    child.once("error", (error) => fail(cannotStart(messageOf(error))));
    if (!(status instanceof Socket)) return;
    status.on("data", (chunk: Buffer) => (text += chunk.toString()));
    status.once("error", () => undefined);
    status.once("close", () => (text === "B" ? done() : fail(cannotStart(text.slice(1) || "its keeper ended"))));
  });
}

const cannotStart = (reason: string): Error => failure("GATE_FAILED", `Cannot start the gate: ${reason}`);

/** Ends whatever runs of the gate of a folder, and removes the folder. Idempotent. */
export async function endKeeper(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const keeper = recordedKeeper(folder);
  if (keeper) await endProcess(keeper);
  // One that has not written its record yet finds the folder gone, and one that has is told of the record's removal.
  await removeTree(folder);
}

async function endProcess(keeper: ProcessIdentity): Promise<void> {
  const all = [keeper, ...(isProcessAlive(keeper) ? childrenOf(keeper.pid) : [])];
  signalProcess(keeper, "SIGTERM");
  if (await haveEnded(all)) return;
  for (const one of all) signalProcess(one, "SIGKILL");
  await haveEnded(all);
}

async function haveEnded(processes: readonly ProcessIdentity[]): Promise<boolean> {
  const deadline = Date.now() + END_PATIENCE_MS;
  while (processes.some(isProcessAlive) && Date.now() < deadline)
    await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
  return !processes.some(isProcessAlive);
}

/** As the keeper recorded itself before it did anything else. */
export function recordedKeeper(folder: string): ProcessIdentity | undefined {
  try {
    const text = readFileSync(join(folder, "gate.pid"), "latin1");
    const [pid, startTicks] = text.trim().split(" ");
    return pid !== undefined && startTicks !== undefined ? { pid: Number(pid), startTicks } : undefined;
  } catch {
    return undefined; // none was started
  }
}
