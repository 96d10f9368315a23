import { mkdir, readdir, rename } from "node:fs/promises";
import { errnoOf } from "../../base/errors.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { randomName } from "../../base/ids.ts";
import type { IdMap } from "../../base/id-map.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { measureTree } from "../../base/walk-tree.ts";
import type { PrepareOptions, PruneKeep, Removed } from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { copyUnmapped } from "../../walls/layer-stream.ts";

/**
 * Environments as machines take them: a folder whose files have the owners that the machine is to see. A user's own files have one owner anyway, and are
 * taken as they are; what root has built belongs to shifted ids, so root has a copy of each environment with the real ones.
 */
export class MachineImages {
  readonly #folder: string;
  readonly #idMap: IdMap;

  constructor(cache: string, idMap: IdMap) {
    this.#folder = join(cache, "smolmachines");
    this.#idMap = idMap;
  }

  /** Makes it when it is not there; safe at once from many processes, because whole copies alone get the name. */
  async ensure(rootfs: Rootfs, { progress, signal }: PrepareOptions): Promise<string> {
    if (this.#idMap.kind === "single") return rootfs.root;
    const image = join(this.#folder, rootfs.digest);
    if (existsSync(image)) return image;
    progress?.({ step: "copying the environment for machines" });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#clear();
    const copy = join(this.#folder, `${process.pid}-${randomName(8)}.tmp`);
    try {
      await mkdir(copy, { mode: 0o755 });
      await copyUnmapped(rootfs.root, copy, this.#idMap, signal);
      await rename(copy, image).catch(async (error: unknown) => {
        if (!existsSync(image)) throw error; // else somebody was quicker
        await removeTree(copy);
      });
      return image;
    } catch (error) {
      await removeTree(copy);
      throw error;
    }
  }

  /** Names of the copies, which are the digests of their environments. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => !name.endsWith(".tmp"));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /** Removes copies that are not among these, and what nobody makes any more. */
  async prune(kept: ReadonlySet<string>, { only, dryRun }: Pick<PruneKeep, "only" | "dryRun">): Promise<Removed[]> {
    const removed: Removed[] = [];
    for (const name of (await this.names()).filter((one) => !kept.has(one) && only?.has(one) !== false)) {
      const image = join(this.#folder, name);
      removed.push({ name: `smolmachines/${name}`, sizeBytes: await measureTree(image) });
      if (dryRun) continue;
      const doomed = join(this.#folder, `${process.pid}-${randomName(8)}.tmp`);
      await rename(image, doomed); // first, so that nobody takes half of it for the whole
      await removeTree(doomed);
    }
    if (!dryRun && existsSync(this.#folder)) await this.#clear();
    return removed;
  }

  /** What a process left that was killed in the middle of a copy. */
  async #clear(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const pid = /^(\d+)-[0-9a-z]+\.tmp$/.exec(name)?.[1];
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) await removeTree(join(this.#folder, name));
    }
  }
}
