import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { makePrivateFolder, requirePrivateFolder } from "../../base/private-folder.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { measureTree } from "../../base/walk-tree.ts";
import { makeWorkFolder } from "../../base/work-folder.ts";
import { failure } from "../../model/error-codes.ts";
import { removeIdleLocks, takeBuildLock, tryBuildLock } from "../../walls/build-lock.ts";

export interface MakeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onWait?: (() => void) | undefined;
}

/** What machines are made of, in the cache that installations share. Everything has its name last, when it is whole, and is made by one at a time. */
export class VmCache {
  readonly #cache: string;
  readonly #folder: string;

  constructor(cache: string) {
    this.#cache = cache;
    this.#folder = join(cache, "vm");
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** For work that ends with this process. */
  async makeWorkFolder(kind: string): Promise<string> {
    return await makeWorkFolder(this.#cache, kind);
  }

  /** The path of what has that name; `build` makes it, a file or a folder, at the path it is given, when it is not there. */
  async make(name: string, build: (path: string) => Promise<void>, options: MakeOptions = {}): Promise<string> {
    const path = this.path(name);
    // SECURITY: a machine starts from nothing that somebody else may have put there (G-24)
    requirePrivateFolder(this.#cache);
    if (existsSync(path)) return path;
    try {
      makePrivateFolder(this.#cache);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const lock = await takeBuildLock(lockOf(path), options);
      try {
        if (existsSync(path)) return path; // made by the process that had the lock before
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

  /** What there is of a kind, whole or only begun by somebody. */
  async names(kind: string): Promise<string[]> {
    const entries = await readdir(this.path(kind)).catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    });
    const begun = entries.flatMap((entry) => TEMPORARY.exec(entry)?.[1] ?? []);
    const whole = entries.filter((entry) => !entry.startsWith("."));
    return [...new Set([...whole, ...begun])].map((name) => `${kind}/${name}`).sort();
  }

  /**
   * Removes what has that name, when it is not `needed`, and what somebody who died has begun of it; nothing while somebody is making it. The name goes first,
   * so that nobody finds half of it. Gives the bytes that it took.
   */
  async remove(
    name: string,
    needed: (path: string) => Promise<boolean>,
    { dryRun = false }: { dryRun?: boolean } = {},
  ): Promise<number | undefined> {
    const path = this.path(name);
    const lock = await tryBuildLock(lockOf(path));
    if (!lock) return undefined;
    try {
      if (!dryRun) await removeLeftovers(path);
      if (!existsSync(path) || (await needed(path))) return undefined;
      const sizeBytes = await measureTree(path);
      if (dryRun) return sizeBytes;
      const doomed = temporaryOf(path);
      await rename(path, doomed);
      await removeTree(doomed);
      return sizeBytes;
    } finally {
      await lock.release();
    }
  }

  /** Whether it was begun by somebody who died. */
  async isAbandoned(name: string): Promise<boolean> {
    const path = this.path(name);
    if (existsSync(path)) return false;
    const lock = await tryBuildLock(lockOf(path));
    await lock?.release();
    return lock !== undefined && !existsSync(path);
  }

  async removeIdleLocks(kind: string): Promise<void> {
    await removeIdleLocks(this.path(kind));
  }

  async #build(path: string, build: (path: string) => Promise<void>): Promise<void> {
    await removeLeftovers(path);
    const temporary = temporaryOf(path);
    try {
      await build(temporary);
      await rename(temporary, path);
    } catch (error) {
      await removeTree(temporary);
      throw error;
    }
  }
}

const TEMPORARY = /^\.tmp-(.+)-[0-9a-f]{8}$/;
const lockOf = (path: string): string => join(dirname(path), `.lock-${basename(path)}`);
const temporaryOf = (path: string): string =>
  join(dirname(path), `.tmp-${basename(path)}-${randomBytes(4).toString("hex")}`);

/** Of somebody who died while making it: under the lock nobody else does. */
async function removeLeftovers(path: string): Promise<void> {
  for (const name of await readdir(dirname(path)))
    if (TEMPORARY.exec(name)?.[1] === basename(path)) await removeTree(join(dirname(path), name));
}
