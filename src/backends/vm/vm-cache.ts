import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { failure } from "../../model/error-codes.ts";
import { takeBuildLock } from "../../walls/build-lock.ts";

export interface MakeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onWait?: (() => void) | undefined;
}

/** What machines are made of, in the cache that installations share. Everything has its name last, when it is whole, and is made by one at a time. */
export class VmCache {
  readonly #folder: string;

  constructor(cache: string) {
    this.#folder = join(cache, "vm");
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** The path of what has that name; `build` makes it, a file or a folder, at the path it is given, when it is not there. */
  async make(name: string, build: (path: string) => Promise<void>, options: MakeOptions = {}): Promise<string> {
    const path = this.path(name);
    if (existsSync(path)) return path;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      const lock = await takeBuildLock(join(dirname(path), `.lock-${basename(path)}`), options);
      try {
        if (existsSync(path)) return path; // made by whoever had the lock before
        await this.#build(path, build);
        return path;
      } finally {
        await lock.release();
      }
    } catch (error) {
      if (["ENOSPC", "EDQUOT"].includes(errnoOf(error) ?? ""))
        throw failure("DISK_FULL", `Cannot make ${name} for machines: no space is left`, { cause: error });
      throw error;
    }
  }

  async #build(path: string, build: (path: string) => Promise<void>): Promise<void> {
    const prefix = `.tmp-${basename(path)}-`;
    // Left by somebody who died while building: under the lock nobody else is.
    for (const name of await readdir(dirname(path)))
      if (name.startsWith(prefix)) await removeTree(join(dirname(path), name));
    const temporary = join(dirname(path), `${prefix}${randomBytes(4).toString("hex")}`);
    try {
      await build(temporary);
      await rename(temporary, path);
    } catch (error) {
      await removeTree(temporary);
      throw error;
    }
  }
}
