import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { keepsNames } from "../base/private-folder.ts";
import { removeTree, TreeIsForeign } from "../base/remove-tree.ts";

const NAME = /^\..*\.cloche-[0-9a-z]{8}$/s;

/**
 * Private folders beside what is written to the host, each noted in the home before it is made: one that a daemon leaves when it is killed is removed by
 * the next.
 */
export class Scratch {
  readonly #notes: string;
  readonly #log: Log;

  constructor(home: string, log: Log) {
    this.#notes = join(home, "scratch");
    this.#log = log;
  }

  /** Does work with a new path beside `output`; whatever is there afterwards is removed. */
  async beside<Result>(output: string, work: (path: string) => Promise<Result>): Promise<Result> {
    const id = randomName(8);
    const path = join(dirname(output), `.${basename(output).slice(0, 60)}.cloche-${id}`);
    const note = join(this.#notes, id);
    this.#write(note, path);
    try {
      return await work(path);
    } finally {
      await this.#remove(path);
      rmSync(note, { force: true });
    }
  }

  /** Removes what an earlier daemon left. */
  async clear(): Promise<void> {
    for (const id of this.#ids()) {
      const note = join(this.#notes, id);
      try {
        const path = readFileSync(note, "utf8");
        // A note that was cut off names nothing that was made.
        if (NAME.test(basename(path)) && path.endsWith(`.cloche-${id}`)) await this.#remove(path);
        rmSync(note, { force: true });
      } catch (error) {
        this.#log.warn("cannot remove what an export left", { note, error: String(error) });
      }
    }
  }

  /**
   * SECURITY: where others can rename, one of the user's own folders may have that name by now: who made the scratch and held it open has removed it, and
   * what is left of one that was killed stays (G-24).
   */
  async #remove(path: string): Promise<void> {
    if (!existsSync(path)) return;
    if (keepsNames(dirname(path))) await removeTree(path).catch(unlessForeign);
    else this.#log.warn("left what an export was written in: others can rename where it is", { path });
  }

  #write(note: string, path: string): void {
    try {
      mkdirSync(this.#notes, { recursive: true, mode: 0o700 });
      writeFileSync(note, path, { mode: 0o600 });
    } catch (error) {
      // Taking something out is what helps when the home's disk is full.
      this.#log.warn("cannot note where an export is written", { path, error: String(error) });
    }
  }

  #ids(): string[] {
    try {
      return readdirSync(this.#notes);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }
}

/** In a folder as `/tmp` somebody else may have made a thing of that name, once it was seen: theirs. */
function unlessForeign(error: unknown): void {
  if (!(error instanceof TreeIsForeign)) throw error;
}
