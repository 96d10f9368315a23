import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { randomName } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { MachineFolder } from "./machine-folder.ts";
import { type Launched, recordedMachine } from "./machine-process.ts";

/** The first command of a new sandbox has the processor to itself. */
const DELAY_MS = 1000;

export interface Spare {
  readonly folder: MachineFolder;
  readonly machine: Launched;
}

/** Makes one in its folder; nothing when it would cost too much. By the signal it gives up at once, and nothing of it runs then. */
export type MakeSpare = (folder: MachineFolder, signal: AbortSignal) => Promise<Launched | undefined>;

/**
 * A machine that was thawed, stands still and is nobody's yet: the next sandbox that starts from the same frozen one takes it, and is there in a third of the
 * time. One waits, for what was used last. Its folder is in the home before it is started, so that the next daemon finds one that was left.
 */
export class SpareMachines {
  readonly #folder: string;
  readonly #log: Log;
  #ready: (Spare & { readonly key: string }) | undefined;
  /** What the timer, or the one that is being made, is for. */
  #wished: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #making: Promise<void> | undefined;
  #giveUp = new AbortController();
  #closed = false;

  /** `folder` is theirs alone. */
  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** The one that was thawed from what `key` names; it is the caller's then. */
  take(key: string): Spare | undefined {
    const spare = this.#waiting(key);
    if (spare) this.#ready = undefined;
    return spare;
  }

  /** Has one made in a moment, unless there is one. */
  wish(key: string, make: MakeSpare): void {
    if (this.#closed || this.#making || this.#waiting(key)) return;
    clearTimeout(this.#timer);
    this.#wished = key;
    this.#timer = setTimeout(() => {
      this.#making = this.#make(key, make).finally(() => (this.#making = undefined));
    }, DELAY_MS);
    this.#timer.unref();
  }

  /** What `key` names is gone: so is a machine that was thawed from it. */
  async forget(key: string): Promise<void> {
    if (this.#wished === key) await this.#stopMaking();
    if (this.#ready?.key === key) await this.drop();
  }

  /** Ends the one that waits; one that was taken is not ours any more. */
  async drop(): Promise<void> {
    const spare = this.#ready;
    this.#ready = undefined;
    if (spare) await discard(spare.folder);
  }

  /** Before any is made: ends and removes what an earlier daemon has left. */
  async clear(): Promise<void> {
    for (const name of this.#names()) await discard(new MachineFolder(join(this.#folder, name)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#stopMaking();
    await this.drop();
  }

  // SECURITY: a machine that was saved after a guest had taken it over may never say that it is ready (G-10).
  async #stopMaking(): Promise<void> {
    clearTimeout(this.#timer);
    this.#giveUp.abort();
    await this.#making;
  }

  #waiting(key: string): Spare | undefined {
    return this.#ready?.key === key && this.#ready.machine.process.alive() ? this.#ready : undefined;
  }

  /** Never rejects: a sandbox starts without one too. */
  async #make(key: string, make: MakeSpare): Promise<void> {
    const folder = new MachineFolder(join(this.#folder, randomName(8)));
    this.#giveUp = new AbortController();
    const { signal } = this.#giveUp;
    try {
      await this.drop();
      mkdirSync(folder.path, { recursive: true, mode: 0o700 });
      const machine = await make(folder, signal);
      if (machine) this.#ready = { key, folder, machine };
      else await discard(folder);
    } catch (error) {
      if (!signal.aborted) this.#log.warn("cannot keep a machine ready", { reason: messageOf(error) });
      await discard(folder).catch(() => undefined); // the next one clears it away
    }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }
}

async function discard(folder: MachineFolder): Promise<void> {
  await recordedMachine(folder.emulator)?.kill();
  await removeTree(folder.path);
}
