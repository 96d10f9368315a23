import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { removeTree } from "../base/remove-tree.ts";
import type { Backend } from "../contracts/backend.ts";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";

/** An overlay takes only so many; a workspace that was reset and saved that often is better made anew. */
const MAX_LAYERS = 60;

/**
 * The read-only layers that snapshots and forks stand on, in one folder of the home. A layer belongs to whoever names it in the store; one that nobody
 * names is garbage. So a crash between the copy and the record leaves nothing but garbage.
 */
export class Layers {
  readonly #folder: string;
  readonly #store: Store;
  /** Copied, and not yet in the store. */
  readonly #fresh = new Set<string>();

  constructor(home: string, store: Store) {
    this.#folder = join(home, "layers");
    this.#store = store;
  }

  path(layerId: string): string {
    return join(this.#folder, layerId);
  }

  paths(layerIds: readonly string[]): string[] {
    return layerIds.map((id) => this.path(id));
  }

  /** Copies what a sandbox has written; `keep` records who stands on it. Gives what `keep` gives. */
  async add<Result>(
    backend: Backend,
    source: { directory: string; layers: readonly string[] },
    keep: (layers: string[], sizeBytes: number) => Result | Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    if (source.layers.length >= MAX_LAYERS) {
      throw failure("NOT_SUPPORTED", `Cannot save the workspace: it stands on ${MAX_LAYERS} snapshots already`, {
        hint: "Export it with `cloche workspace export ID /workspace --output FOLDER` and create a new workspace from that folder",
      });
    }
    const layerId = `ly-${randomName(10)}`;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#fresh.add(layerId);
    try {
      const sizeBytes = await backend.copyLayer(source.directory, this.path(layerId), signal);
      return await keep([...source.layers, layerId], sizeBytes);
    } finally {
      this.#fresh.delete(layerId);
    }
  }

  /** Removes what nobody stands on. */
  async prune(): Promise<void> {
    const used = this.#store.listLayers();
    for (const name of this.#names()) if (!used.has(name) && !this.#fresh.has(name)) await removeTree(this.path(name));
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
