import { basename, dirname } from "node:path";
import { IgnoreRules } from "../policy/ignore-rules.ts";
import type { SeedCache } from "./seed-cache.ts";

const MAX_KEPT = 32;

/**
 * The ignore rules of cached trees, read once.
 * SECURITY: as they were imported, from a file that no sandbox sees: what an agent writes into an ignore file hides nothing (G-30)
 */
export class SeedRules {
  readonly #cache: SeedCache;
  readonly #kept = new Map<string, IgnoreRules>();

  constructor(cache: SeedCache) {
    this.#cache = cache;
  }

  of(tree: string): IgnoreRules {
    const kept = this.#kept.get(tree);
    if (kept) return kept;
    const rules = new IgnoreRules(this.#read(tree) ?? { files: [], repositories: [] });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(tree, rules);
    return rules;
  }

  #read(tree: string) {
    const key = basename(dirname(tree));
    // One of an earlier version has none.
    return this.#cache.tree(key) === tree ? this.#cache.find(key)?.ignore : undefined;
  }
}
