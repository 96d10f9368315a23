import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { layersFolder } from "../base/paths.ts";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { removeTree } from "../base/remove-tree.ts";
import type { Backend } from "../contracts/backend.ts";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { Trash } from "./trash.ts";

/** What a saved machine is called among the layers: the last of them, with everything that was written over the others. */
const MACHINE_PREFIX = "mc-";
const idIn = (name: string): string => name.split(".", 1)[0] ?? name;
const isMachine = (layerId: string): boolean => layerId.startsWith(MACHINE_PREFIX);

/** An overlay takes only so many; a workspace that was reset and saved that often is better made anew. */
const MAX_LAYERS = 60;

/**
 * The read-only layers that snapshots and forks stand on, in one folder of the home. A layer is in use while a record of the store names it; one that no record
 * names is garbage. So a crash between the copy and the record leaves nothing but garbage.
 */
export class Layers {
  readonly #folder: string;
  readonly #store: Store;
  readonly #backends: ReadonlyMap<string, Backend>;
  readonly #trash: Pick<Trash, "take">;
  /** Copied, and not yet in the store. */
  readonly #fresh = new Set<string>();
  /** The clean-up that was asked for last. */
  #pruned: Promise<void> = Promise.resolve();

  constructor(
    home: string,
    { store, backends, trash }: { store: Store; backends: ReadonlyMap<string, Backend>; trash: Pick<Trash, "take"> },
  ) {
    this.#folder = layersFolder(home);
    this.#store = store;
    this.#backends = backends;
    this.#trash = trash;
  }

  path(layerId: string): string {
    return join(this.#folder, layerId);
  }

  /** The folders of layers, bottom first, and of the machine that has saved what is over them, if one has. */
  stack(layerIds: readonly string[]): { layers: string[]; machine: string | undefined } {
    const machine = layerIds.findLast(isMachine);
    const layers = layerIds.filter((id) => !isMachine(id)).map((id) => this.path(id));
    return { layers, machine: machine === undefined ? undefined : this.path(machine) };
  }

  /** Copies what a sandbox has written; `keep` records what uses the copy. Gives what `keep` gives. */
  async add<Result>(
    backend: Backend,
    source: { directory: string; layers: readonly string[] },
    keep: (layers: string[], sizeBytes: number) => Result | Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    if (source.layers.length >= MAX_LAYERS) {
      throw failure("NOT_SUPPORTED", `Cannot save the workspace: it stands on ${MAX_LAYERS} snapshots already`, {
        hint: [
          way`Export it with ${call("exportWorkspace", { workspace_id: null, path: "/workspace", output_path: "FOLDER" })} and create a new workspace from that folder`,
        ],
      });
    }
    const copy = (target: string) => backend.copyLayer(source.directory, target, signal);
    return await this.#make(`ly-${randomName(10)}`, source.layers, copy, keep);
  }

  /** Keeps a running machine with its processes; `save` puts it into a new folder. */
  async addMachine<Result>(
    layers: readonly string[],
    save: (target: string) => Promise<number>,
    keep: (layers: string[], sizeBytes: number) => Result | Promise<Result>,
  ): Promise<Result> {
    return await this.#make(`${MACHINE_PREFIX}${randomName(10)}`, layers, save, keep);
  }

  /** What is made holds all that was written over the layers, so a machine among them is not needed any more. */
  async #make<Result>(
    id: string,
    below: readonly string[],
    fill: (target: string) => Promise<number>,
    keep: (layers: string[], sizeBytes: number) => Result | Promise<Result>,
  ): Promise<Result> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#fresh.add(id);
    try {
      const sizeBytes = await fill(this.path(id));
      return await keep([...below.filter((layer) => !isMachine(layer)), id], sizeBytes);
    } catch (error) {
      // What cannot be removed now is garbage, and goes later.
      if (!this.#store.listLayers().has(id)) await removeTree(this.path(id)).catch(() => undefined);
      throw error;
    } finally {
      this.#fresh.delete(id);
    }
  }

  /** Removes layers that no record names. One after the other: two at once would remove the same layer, and one of them would fail. */
  async prune(): Promise<void> {
    const mine = this.#pruned.catch(() => undefined).then(() => this.#removeUnnamed());
    this.#pruned = mine;
    await mine;
  }

  async #removeUnnamed(): Promise<void> {
    const used = this.#store.listLayers();
    // What is being made has another name until it is whole, which begins with the one that it will have.
    for (const name of this.#names()) if (!used.has(name) && !this.#fresh.has(idIn(name))) await this.#remove(name);
  }

  async #remove(name: string): Promise<void> {
    const path = this.path(name);
    if (isMachine(name)) for (const backend of this.#backends.values()) await backend.forgetMachine?.(path);
    await this.#trash.take(path);
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

/** Whether layers end with a saved machine. */
export const isLive = (layerIds: readonly string[]): boolean => layerIds.some(isMachine);
