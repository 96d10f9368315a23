import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isClocheError, messageOf } from "../../base/errors.ts";
import { type ProcessIdentity, childrenOf, isProcessAlive, signalProcess } from "../../base/process-identity.ts";
import { startRole } from "../../base/starter.ts";
import { startFailure } from "./start-failure.ts";

export const LOG_NAME = "wall.log";
const LOG_TAIL_BYTES = 2000;
const KILL_PATIENCE_MS = 5000;
const ADOPTED_CHECK_MS = 5;

/**
 * The processes of a wall on the host: the outer one, which the daemon started, and its children, the first of which is the guest
 * program. They outlive the daemon; one that was adopted is known by its identity only.
 */
export class WallProcess {
  readonly outer: ProcessIdentity;
  /** Ends the wall when killed: the first process of its pid namespace. */
  #inner: readonly ProcessIdentity[];
  readonly #exited: Promise<void> | undefined;

  constructor(outer: ProcessIdentity, inner: readonly ProcessIdentity[], exited?: Promise<void>) {
    this.outer = { pid: outer.pid, startTicks: outer.startTicks };
    this.#inner = inner;
    this.#exited = exited;
  }

  /** Remembers the inner processes, once they are there, so that they can be ended also when the outer one is gone. */
  rememberInner(): readonly ProcessIdentity[] {
    const now = childrenOf(this.outer.pid);
    if (now.length > 0) this.#inner = now;
    return this.#inner;
  }

  alive(): boolean {
    return isProcessAlive(this.outer) || this.#inner.some(isProcessAlive);
  }

  async kill(): Promise<void> {
    const doomed = [...this.#inner, ...(isProcessAlive(this.outer) ? childrenOf(this.outer.pid) : [])];
    for (const one of doomed) signalProcess(one, "SIGKILL");
    // Without children the launcher is still on its way to the wall.
    if (doomed.length === 0) signalProcess(this.outer, "SIGKILL");
    if (await this.hasEnded(KILL_PATIENCE_MS)) return;
    for (const one of [...childrenOf(this.outer.pid), this.outer]) signalProcess(one, "SIGKILL");
    await this.hasEnded(KILL_PATIENCE_MS);
  }

  async hasEnded(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs;
    if (this.#exited) await Promise.race([this.#exited, new Promise((done) => setTimeout(done, withinMs).unref())]);
    // The kernel tells nobody but the parent; for an adopted wall a look every few milliseconds has to do.
    while (this.alive() && Date.now() < deadline) await new Promise((done) => setTimeout(done, ADOPTED_CHECK_MS));
    return !this.alive();
  }
}

/** Starts `cloche-guest wall …`; resolves once the guest's socket is bound. The wall may still fail after that: see `exited`. */
export async function launchWall(
  directory: string,
  launcherArguments: readonly string[],
  wallArguments: readonly string[],
): Promise<{ process: WallProcess; exited: Promise<void> }> {
  const words = ["wall", ...launcherArguments, "--directory", directory, "--", ...wallArguments];
  const { exited } = await bound(words, join(directory, LOG_NAME));
  const outer = recordedProcess(directory);
  if (!outer) throw startFailure(logTail(directory));
  return { process: new WallProcess(outer, [], exited), exited };
}

/** Waits for the launcher's word on its status pipe: `B`, or `E` and why not. Gives a promise of its end. */
function bound(words: readonly string[], log: string): Promise<{ exited: Promise<void> }> {
  return new Promise((done, fail) => {
    let text = "";
    let isBound = () => {};
    const saysBound = new Promise<void>((settle) => (isBound = settle));
    const onStatus = (chunk: string) => {
      text += chunk;
      if (text.startsWith("B")) isBound();
    };
    startRole(words, { log, onStatus, isBackground: true }).then(
      ({ ended }) => {
        const exited = ended.then(() => undefined);
        void saysBound.then(() => done({ exited }));
        // The launcher's later failures come here too; the code that waits for the guest's hello reads them from the log.
        void exited.then(() => fail(startFailure(text.replace(/^B?E?/, "") || "the launcher ended")));
      },
      (error: unknown) => fail(isClocheError(error) ? error : startFailure(messageOf(error))),
    );
  });
}

export function logTail(directory: string): string {
  try {
    return readFileSync(join(directory, LOG_NAME), "utf8").slice(-LOG_TAIL_BYTES).trim();
  } catch {
    return "";
  }
}

/** The outer process as the launcher recorded it before it did anything else; for a wall without a record in the store. */
export function recordedProcess(directory: string): ProcessIdentity | undefined {
  try {
    const [pid, startTicks] = readFileSync(join(directory, "wall.pid"), "latin1").trim().split(" ");
    return pid !== undefined && startTicks !== undefined ? { pid: Number(pid), startTicks } : undefined;
  } catch {
    return undefined;
  }
}
