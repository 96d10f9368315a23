import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seedsFolder } from "../base/paths.ts";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { makePrivateFolder, requirePrivateFolder } from "../base/private-folder.ts";
import type { IgnoreSources } from "../policy/ignore-rules.ts";
import { toBytePath } from "./byte-path.ts";
import type { FreshFile } from "./fresh-files.ts";
import type { TreeOwner } from "./seed-key.ts";
import { SeedRoom } from "./seed-room.ts";
import { TreeWriter } from "./tree-writer.ts";

/** `seed.json`, written when the tree is whole. Paths are one byte a character. */
export interface SeedRecord {
  readonly head: string | null;
  readonly fresh: readonly FreshFile[];
  /** What a diff of the project leaves out. */
  readonly ignore: IgnoreSources;
}

/**
 * `<cache>/seeds/KEY/tree` and `seed.json`. A seed is built beside and moved into place at once, so that what has its name is whole. Several daemons may
 * share the cache.
 */
export class SeedCache {
  readonly folder: string;
  readonly #cachePath: string;
  readonly #owner: TreeOwner;

  constructor(cachePath: string, owner: TreeOwner) {
    this.#cachePath = cachePath;
    this.folder = seedsFolder(cachePath);
    this.#owner = owner;
  }

  tree(key: string): string {
    return join(this.folder, key, "tree");
  }

  find(key: string): SeedRecord | undefined {
    // SECURITY: what somebody else has put there is no seed (G-24)
    requirePrivateFolder(this.#cachePath);
    try {
      return JSON.parse(readFileSync(join(this.folder, key, "seed.json"), "utf8")) as SeedRecord;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Fresh files that were found unchanged need no second look. */
  settle(key: string, record: SeedRecord): void {
    const path = join(this.folder, key, `seed.json.${randomName(6)}`);
    try {
      writeFileSync(path, JSON.stringify({ ...record, fresh: [] }), { mode: 0o600 });
      renameSync(path, join(this.folder, key, "seed.json"));
    } catch {
      rmSync(path, { force: true }); // only the next import is slower
    }
  }

  /** A place to build in; `publish` or `discard` ends it. The owner's process is in the name, so that leftovers are known. */
  begin(): { folder: string; tree: TreeWriter } {
    // SECURITY: the files of a project have the modes that they had there, and are closed to others by the folders above (G-24)
    makePrivateFolder(this.#cachePath);
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    chmodSync(this.folder, 0o700); // an older version had it open
    const folder = join(this.folder, `.tmp-${process.pid}-${randomName(10)}`);
    mkdirSync(folder, { mode: 0o700 });
    const tree = new TreeWriter(toBytePath(join(folder, "tree")), this.#owner, new SeedRoom(folder));
    tree.folder("", 0o755);
    return { folder, tree };
  }

  /** Returns false when somebody else was first; then ours is gone. */
  publish(folder: string, key: string, record: SeedRecord): boolean {
    writeFileSync(join(folder, "seed.json"), JSON.stringify(record), { mode: 0o600 });
    try {
      renameSync(folder, join(this.folder, key));
      return true;
    } catch (error) {
      const code = errnoOf(error);
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
      this.discard(folder);
      return false;
    }
  }

  discard(folder: string): void {
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
