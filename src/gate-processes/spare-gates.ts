import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { isProcessAlive } from "../base/process-identity.ts";
import { endKeeper, recordedKeeper, startKeeper } from "./gate-keeper.ts";

/** The next one is made so long after one was given away, because the agent that it was given to begins just then. */
const DELAY_MS = 1000;

/** In the home, and theirs alone. */
const FOLDER = "spare-gates";

export interface SpareGateOptions {
  readonly home: string;
  /** The gate, as a file to run. */
  readonly program: string;
  readonly log: Log;
}

/**
 * A spare gate: started with its keeper, and given to no workspace yet. To start a gate takes longer than all else that a run waits for. It knows nothing, lets out nothing
 * and is connected to nothing. Its folder is in the home before it is started, so that the next daemon finds one that was left. To give it to a workspace is to move
 * that folder: from then on it is a gate like any other, recorded at the same place.
 */
export class SpareGates {
  readonly #folder: string;
  readonly #program: string;
  readonly #log: Log;
  /** The folder of the one that waits; undefined when it could not be made. */
  #spare: Promise<string | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ home, program, log }: SpareGateOptions) {
    this.#folder = join(home, FOLDER);
    this.#program = program;
    this.#log = log;
  }

  /** One will be needed soon: has it made at once where none waits. */
  wish(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#spare ??= this.#make();
  }

  /** Moves the one that waits to where a workspace is to have its gate; false when there is none. Another one is made in a while. */
  async give(place: string): Promise<boolean> {
    // There was a gate, or one is on its way that a killed daemon has begun to start.
    if (existsSync(place)) return false;
    const taken = this.#spare;
    this.#spare = undefined;
    const spare = await taken;
    if (spare === undefined) return false;
    this.#timer = setTimeout(() => this.wish(), DELAY_MS).unref();
    try {
      const keeper = recordedKeeper(spare);
      if (keeper && isProcessAlive(keeper)) {
        renameSync(spare, place);
        return true;
      }
    } catch (error) {
      this.#log.warn("cannot use a gate that waits", { reason: messageOf(error) });
    }
    await this.#end(spare);
    return false;
  }

  /** Before any is made: ends and removes what an earlier daemon has left. */
  async clear(): Promise<void> {
    for (const name of this.#names()) await this.#end(join(this.#folder, name));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const spare = await this.#spare;
    if (spare !== undefined) await this.#end(spare);
  }

  /** Never rejects: a workspace starts its own then. */
  async #make(): Promise<string | undefined> {
    const folder = join(this.#folder, randomName(8));
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      // It is not known yet whether the workspace has repositories.
      await startKeeper(folder, this.#program, { hasGit: true });
      return folder;
    } catch (error) {
      this.#log.warn("cannot keep a gate ready", { reason: messageOf(error) });
      await this.#end(folder);
      return undefined;
    }
  }

  /** Never rejects: the next daemon ends what is left. */
  async #end(folder: string): Promise<void> {
    await endKeeper(folder).catch((error: unknown) =>
      this.#log.warn("cannot end a gate that waits", { reason: messageOf(error) }),
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
