import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { randomName } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { onAbort } from "../../base/on-abort.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { failure } from "../../model/error-codes.ts";
import { Demand, REMEMBERED_MS } from "./demand.ts";
import { MachineFolder } from "./machine-folder.ts";
import { type Launched, recordedMachine } from "./machine-process.ts";

/** The next spare machine is made so long after a sandbox began, because that sandbox's first commands need the processor. */
const DELAY_MS = 1000;
/** When several sandboxes begin at once, the next of them already waits for a spare machine, so it is made sooner. */
const AT_ONCE_DELAY_MS = 100;
/** There is more than one spare machine only while this much memory is free. */
const FREE_BYTES = 1024 ** 3;

export interface Spare {
  readonly folder: MachineFolder;
  readonly machine: Launched;
}

export interface MakingOptions {
  /** When it is aborted, making ends at once and leaves nothing of the machine running. */
  readonly signal: AbortSignal;
  /** Whether a workspace waits for this machine. Then it is handed over as soon as it is thawed. */
  readonly hurry: () => boolean;
}

/** Makes one in its folder; nothing when it would cost too much. */
export type MakeSpare = (folder: MachineFolder, options: MakingOptions) => Promise<Launched | undefined>;

/** One that is being made. */
interface Making {
  readonly key: string | undefined;
  readonly giveUp: AbortController;
  readonly spare: Promise<Spare | undefined>;
  isTaken: boolean;
}

/**
 * Spare machines: thawed, standing still, and given to no workspace yet. The next sandbox that starts from the same frozen machine takes one, and is there
 * in a fourth of the time. One spare machine waits, made from what was used last. If several sandboxes began at once in the last minute, as many wait. Each
 * has its folder in the home before it is started, so that the next daemon finds those that were left.
 */
export class SpareMachines {
  readonly #folder: string;
  readonly #most: number;
  readonly #log: Log;
  /** All of one kind; the one that has waited longest comes first. */
  readonly #ready: Spare[] = [];
  /** What was used last. */
  #key: string | undefined;
  #make: MakeSpare | undefined;
  #demand = new Demand();
  #timer: NodeJS.Timeout | undefined;
  /** When it goes off. */
  #begin = 0;
  #calm: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #making: Making | undefined;
  #ending = Promise.resolve();
  #closed = false;

  /** `folder` is theirs alone; `most` is how many wait at most. */
  constructor(folder: string, most: number, log: Log) {
    this.#folder = folder;
    this.#most = most;
    this.#log = log;
  }

  /** Hands a machine that was thawed from what `key` names over to the caller. If none is ready, the caller waits for the one that was begun first. */
  async take(key: string, signal?: AbortSignal): Promise<Spare | undefined> {
    this.#turnTo(key);
    this.#demand.asked(performance.now());
    let spare = this.#ready.shift();
    while (spare && !spare.machine.process.alive()) {
      this.#end([spare]);
      spare = this.#ready.shift();
    }
    const making = this.#making;
    if (spare || !making || making.isTaken || making.key !== key) return spare;
    making.isTaken = true;
    return await this.#awaitMade(making.spare, signal);
  }

  /** Has as many made in a moment as are missing. */
  wish(key: string, make: MakeSpare): void {
    if (this.#closed) return;
    this.#turnTo(key);
    this.#make = make;
    const now = performance.now();
    const delay = this.#demand.most(now) > 1 ? AT_ONCE_DELAY_MS : DELAY_MS;
    if (this.#timer && this.#begin <= now + delay) return;
    clearTimeout(this.#timer);
    this.#begin = now + delay;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#filling ??= this.#fill().finally(() => (this.#filling = undefined));
    }, delay).unref();
  }

  /** What `key` names is gone: so are machines that were thawed from it. */
  async forget(key: string): Promise<void> {
    if (this.#key === key) await this.drop();
  }

  /** Ends the machines that wait, and makes none until one is asked for again. A machine that was taken is not touched. */
  async drop(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#calm);
    this.#timer = undefined;
    this.#turnTo(undefined);
    // SECURITY: a machine that was saved after a guest had taken it over may never say that it is ready (G-10).
    this.#making?.giveUp.abort();
    await this.#filling;
    await this.#ending;
  }

  /** Whether machines have waited in this home before. */
  get wereUsed(): boolean {
    return existsSync(this.#folder);
  }

  /** Before any is made: ends and removes what an earlier daemon has left. */
  async clear(): Promise<void> {
    for (const name of this.#names()) await discard(new MachineFolder(join(this.#folder, name)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.drop();
  }

  get #wanted(): number {
    const most = freemem() < FREE_BYTES ? 1 : this.#most;
    return Math.max(1, Math.min(this.#demand.most(performance.now()), most));
  }

  /** Makes those that are missing, one after the other. */
  async #fill(): Promise<void> {
    while (this.#make && this.#ready.length < this.#wanted) {
      const giveUp = new AbortController();
      const options = { signal: giveUp.signal, hurry: () => making.isTaken };
      const making: Making = { key: this.#key, giveUp, spare: this.#makeOne(this.#make, options), isTaken: false };
      this.#making = making;
      const spare = await making.spare;
      this.#making = undefined;
      if (!spare) break;
      if (making.isTaken) continue;
      if (this.#key === making.key) this.#ready.push(spare);
      else this.#end([spare]);
    }
    clearTimeout(this.#calm);
    if (this.#ready.length > 1) this.#calm = setTimeout(() => this.#endNeedless(), REMEMBERED_MS).unref();
  }

  /** Never rejects: a sandbox starts without one too. */
  async #makeOne(make: MakeSpare, options: MakingOptions): Promise<Spare | undefined> {
    const folder = new MachineFolder(join(this.#folder, randomName(8)));
    try {
      mkdirSync(folder.path, { recursive: true, mode: 0o700 });
      const machine = await make(folder, options);
      if (machine) return { folder, machine };
      await discard(folder);
    } catch (error) {
      if (!options.signal.aborted) this.#log.warn("cannot keep a machine ready", { reason: messageOf(error) });
      await discard(folder).catch(() => undefined); // the next daemon clears it away
    }
    return undefined;
  }

  /** Waits for a machine that is being made. When the caller gives up first, the machine is ended here once it is made. */
  #awaitMade(made: Promise<Spare | undefined>, signal: AbortSignal | undefined): Promise<Spare | undefined> {
    return new Promise((done, fail) => {
      const stopListening = onAbort(signal, () => fail(failure("CANCELLED", "Starting the machine was cancelled")));
      void made.then((spare) => {
        stopListening();
        if (spare && signal?.aborted) this.#end([spare]);
        done(spare);
      });
    });
  }

  #turnTo(key: string | undefined): void {
    if (this.#key === key) return;
    this.#key = key;
    this.#make = undefined;
    this.#demand = new Demand();
    this.#end(this.#ready.splice(0));
  }

  #endNeedless(): void {
    this.#end(this.#ready.splice(this.#wanted));
  }

  #end(spares: readonly Spare[]): void {
    for (const { folder } of spares)
      this.#ending = Promise.all([discard(folder), this.#ending]).then(
        () => undefined,
        (error: unknown) => this.#log.warn("cannot end a machine that waits", { reason: messageOf(error) }),
      );
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
