import { readdir, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import { randomName } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { removeTree } from "../base/remove-tree.ts";
import type { BringOptions, ImportedSeed, Seeds } from "../contracts/seeds.ts";
import type { ImportOutcome } from "./import-job.ts";
import { runSeedImport, type ImportRunner } from "./run-import.ts";
import { SeedCache } from "./seed-cache.ts";
import { cacheFailure } from "./seed-errors.ts";
import { IMPORTER_VERSION, type TreeOwner } from "./seed-key.ts";
import { SeedRules } from "./seed-rules.ts";
import { checkScope, seedKindOf, sourceKindOf, type SourceKind } from "./seed-source.ts";
import { SharedWork } from "./shared-work.ts";

/** The user that commands run as in a sandbox. */
const AGENT = 1000;

export interface SeedsOptions {
  readonly cachePath: string;
  readonly idMap: IdMap;
  readonly log: Log;
  /** Never part of a seed. */
  readonly home?: string;
  /** How an import is run; a thread by default. */
  readonly run?: ImportRunner;
}

export function createSeeds({ cachePath, home, idMap, log, run = runSeedImport }: SeedsOptions): Seeds {
  const owner: TreeOwner = { kind: idMap.kind, ...idMap.toHost(AGENT, AGENT) };
  const cache = new SeedCache(cachePath, owner);
  const rules = new SeedRules(cache);
  const imports = new SharedWork<ImportOutcome>();

  const importAs = (kind: SourceKind, path: string, options: Omit<BringOptions, "asItIs">) => {
    const { scope, include } = options;
    return imports.join(
      JSON.stringify([path, kind, scope, include]),
      (progress, signal) => run({ cachePath, home, seedPath: path, kind, owner, scope, include }, progress, signal),
      options,
    );
  };

  return {
    async import(seedPath, options) {
      if (seedPath === undefined) return { tree: emptyTree(cache, owner), seed: EMPTY };
      const path = resolve(seedPath);
      if (options.scope) await checkScope(path, options.scope);
      const kind = await seedKindOf(path);
      const outcome = await importAs(kind, path, options);
      const seed = { mode: kind, seed_path: path, origin_kind: "seed_path", origin_ref: outcome.head } as const;
      return { tree: outcome.tree, seed: { ...seed, left_out: outcome.leftOut, included: outcome.included } };
    },

    async bring(given, options) {
      const path = resolve(given);
      if (options.scope) await checkScope(path, options.scope);
      const kind = await sourceKindOf(path, options.asItIs);
      const { tree, leftOut } = await importAs(kind, path, options);
      return { tree, kind, leftOut };
    },

    ignoreRules(tree) {
      return rules.of(tree);
    },

    async prune(inUse) {
      let removed = 0;
      for (const name of await seedsIn(cache.folder)) {
        if (name.startsWith(".tmp-") ? isLeftover(name) : !inUse.has(cache.tree(name))) {
          removed += await removeSeed(cache.folder, name, log);
        }
      }
      return { removed };
    },
  };
}

const EMPTY: ImportedSeed["seed"] = {
  mode: "empty",
  seed_path: null,
  origin_kind: null,
  origin_ref: null,
  left_out: null,
  included: null,
};

/** One folder for all; too little to be worth a thread. */
function emptyTree(cache: SeedCache, owner: TreeOwner): string {
  const key = `empty-${IMPORTER_VERSION}-${owner.kind}-${owner.uid}-${owner.gid}`;
  try {
    if (cache.find(key) === undefined) {
      const { folder, tree } = cache.begin();
      tree.finish();
      cache.publish(folder, key, { head: null, fresh: [], ignore: { files: [], repositories: [] } });
    }
  } catch (error) {
    throw cacheFailure(error);
  }
  return cache.tree(key);
}

async function seedsIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Whether the process that was building there is gone. */
function isLeftover(name: string): boolean {
  try {
    process.kill(Number(name.split("-")[1]), 0);
    return false;
  } catch (error) {
    return errnoOf(error) === "ESRCH";
  }
}

/** Takes the name away first, so that nobody finds half a seed. Counts what had been a seed. */
async function removeSeed(folder: string, name: string, log: Log): Promise<0 | 1> {
  const doomed = join(folder, `.tmp-${process.pid}-${randomName(10)}`);
  try {
    await rename(join(folder, name), doomed);
    await removeTree(doomed);
    return name.startsWith(".tmp-") ? 0 : 1;
  } catch (error) {
    log.warn("Cannot remove a cached seed", { name, reason: messageOf(error) });
    return 0;
  }
}
