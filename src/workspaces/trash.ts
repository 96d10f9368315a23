import { mkdirSync, readdirSync, renameSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { removeTree, requireNoMounts } from "../base/remove-tree.ts";

/** With less room than this, who deletes wants the room. */
const LITTLE_ROOM_BYTES = 64 * 1024 * 1024;

/**
 * What is removed after its caller was answered. A layer with all that a project has installed takes seconds to remove, and nobody wants to wait for that: it is
 * moved into one folder of the home, which takes no time, and removed from there. What a daemon leaves there when it is killed, the next one removes.
 */
export class Trash {
  readonly #folder: string;
  readonly #log: Log;
  /** One tree after the other: they are on one disk, and others want to work meanwhile. */
  #emptied: Promise<void> = Promise.resolve();

  constructor(home: string, log: Log) {
    this.#folder = join(home, "trash");
    this.#log = log;
  }

  /** Takes a layer or the folder of a sandbox away. Throws `TreeIsMounted` before anything is moved. */
  async take(path: string): Promise<void> {
    await requireNoMounts(path);
    const name = randomName(10);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      renameSync(path, join(this.#folder, name));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return;
      await removeTree(path); // a full disk has no room for a new folder
      return;
    }
    this.#removeLater(name);
    if (this.#hasLittleRoom()) await this.#emptied;
  }

  /** Goes on with what an earlier daemon left. */
  recover(): void {
    for (const name of this.#names()) this.#removeLater(name);
  }

  /** Waits until all that was taken is gone or cannot be removed, but no longer than that. */
  async emptied(withinMs: number): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([this.#emptied, setTimeout(withinMs, undefined, waiting).catch(() => undefined)]);
    waiting.abort();
  }

  /** On a full disk not even the deletion can be written down before something is gone. */
  #hasLittleRoom(): boolean {
    const { bavail, bsize } = statfsSync(this.#folder);
    return bavail * bsize < LITTLE_ROOM_BYTES;
  }

  #removeLater(name: string): void {
    this.#emptied = this.#emptied.then(async () => {
      try {
        await removeTree(join(this.#folder, name));
      } catch (error) {
        this.#log.warn("cannot remove what was deleted; the next daemon tries again", { name, error: String(error) });
      }
    });
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
