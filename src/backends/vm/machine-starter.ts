import { existsSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { IdMap } from "../../base/id-map.ts";
import type { Log } from "../../base/log.ts";
import type { PrepareOptions, PruneKeep, Removed, WallSpec } from "../../contracts/backend.ts";
import { failure } from "../../model/error-codes.ts";
import { type Acceleration, chooseAccelerator } from "./accelerator.ts";
import { type BootFiles, ensureBootFiles } from "./boot-files.ts";
import { DiskImages, makeHole } from "./disk-images.ts";
import { ensureKernel } from "./kernel.ts";
import { MachineFolder, type MachineOrigin } from "./machine-folder.ts";
import { pruneCache } from "./prune-cache.ts";
import { type Qemu, findQemu } from "./qemu.ts";
import { copySavedDisks, findSavedMachine } from "./saved-machine.ts";
import { SpareMachines } from "./spare-machines.ts";
import { type Template, ensureTemplate } from "./template.ts";
import { type Frozen, type ThawOptions, type Thawed, takeOver, thaw, thawSpare } from "./thaw.ts";
import { VmCache } from "./vm-cache.ts";

/** A copy of a saved machine that has written more is not kept ready: it would take that much memory. */
const MAX_SPARE_BYTES = 128 * 1024 * 1024;

/** Each takes about 40 MiB. */
const MAX_SPARES = 4;

export interface VmOptions {
  readonly home: string;
  readonly cache: string;
  readonly idMap: IdMap;
  readonly log: Log;
}

export interface Tools {
  readonly qemu: Qemu;
  readonly boot: BootFiles;
  readonly acceleration: Acceleration;
}

/** What a machine is told of itself. */
type MachineNames = Pick<WallSpec, "sandboxName" | "hostname" | "layers"> & {
  readonly seed: string | undefined;
  readonly signal: AbortSignal | undefined;
};

export interface Started {
  readonly qemu: Qemu;
  readonly frozen: Frozen;
  readonly seed: string | undefined;
  readonly thawed: Thawed;
}

/** Somebody has cleaned up the cache between a look at it and the start of a machine from it. */
class PrunedMeanwhile extends Error {}

/** Starts machines from what is frozen: templates, and machines that were saved with their processes. Of each kind some are kept ready. */
export class MachineStarter {
  readonly #cache: VmCache;
  readonly #images: DiskImages;
  readonly #idMap: IdMap;
  readonly #log: Log;
  /** Of the template that was used last. */
  readonly #spares: SpareMachines;
  /** Of the saved machine that was saved or used last. */
  readonly #copies: SpareMachines;
  #boot: Promise<BootFiles> | undefined;

  constructor({ home, cache, idMap, log }: VmOptions) {
    this.#spares = new SpareMachines(join(home, "spare-machines"), MAX_SPARES, log);
    this.#copies = new SpareMachines(join(home, "spare-copies"), 1, log);
    this.#cache = new VmCache(cache);
    this.#images = new DiskImages(this.#cache, idMap);
    this.#idMap = idMap;
    this.#log = log;
  }

  async tools(options: PrepareOptions): Promise<Tools> {
    const qemu = await findQemu();
    // Another installation that shares the cache may have cleaned it up.
    if (this.#boot && !existsSync((await this.#boot).initrd)) this.#boot = undefined;
    this.#boot ??= this.#bootFiles(options).catch((error: unknown) => {
      this.#boot = undefined;
      throw error;
    });
    const boot = await this.#boot;
    const acceleration = await chooseAccelerator(
      { cache: this.#cache, images: this.#images, idMap: this.#idMap },
      qemu,
      boot,
      options.progress,
    );
    return { qemu, boot, acceleration };
  }

  async template(tools: Tools, { rootfs, limits }: MachineOrigin, options: PrepareOptions): Promise<Template> {
    const { memMib, vcpuCount } = limits;
    const shape = { accelerator: tools.acceleration.accelerator, memMib, vcpuCount };
    const sources = { cache: this.#cache, images: this.#images, idMap: this.#idMap, log: this.#log };
    return await ensureTemplate(sources, { ...tools, ...options, rootfs, shape });
  }

  async start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Started> {
    try {
      return await this.#start(spec, signal);
    } catch (error) {
      if (!(error instanceof PrunedMeanwhile)) throw error;
      this.#log.info("the cache was cleaned up meanwhile, so once more", { workspace: spec.sandboxName });
      return await this.#start(spec, signal);
    }
  }

  async #start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Started> {
    const tools = await this.tools({ signal, progress: spec.progress });
    const folder = new MachineFolder(spec.directory);
    folder.make();
    // A disk whose layers did not all arrive was never used.
    if (folder.hasDisk && !folder.isFilled) await rm(folder.disk);
    const names = { ...spec, seed: await this.#images.seed(spec.baseline, signal), signal };
    return spec.machine !== undefined && !folder.hasDisk
      ? await this.#resume(tools, spec.machine, folder, names)
      : await this.#begin(tools, folder, names);
  }

  /** A machine that only looks at a disk: it has no workspace of its own. */
  async startToLook(tools: Tools, frozen: Frozen, folder: MachineFolder, signal?: AbortSignal): Promise<Thawed> {
    const names = { sandboxName: folder.path, hostname: "cloche-look", seed: undefined, layers: [], signal };
    return await thaw(await this.#options(tools, frozen, folder, names));
  }

  /** Has a copy of a saved machine made that waits to go on. */
  keepReady(saved: string, seed: string | undefined): void {
    this.#copies.wish(saved, async (place, { signal, hurry }) => {
      const tools = await this.tools({});
      const frozen = findSavedMachine(saved, tools.qemu.version);
      if (statSync(frozen.ownMemory).size > MAX_SPARE_BYTES) return undefined;
      await copySavedDisks(saved, place);
      return await thawSpare(await this.#spareOptions(tools, frozen, place, signal), seed, hurry);
    });
  }

  /** A machine that waits for nobody would keep its template in use, and a dry run would not tell of it. */
  async prune(keep: PruneKeep): Promise<Removed[]> {
    await this.#spares.drop();
    return await pruneCache(this.#cache, this.#images, this.#idMap, keep);
  }

  /** A saved machine is gone. */
  async forget(saved: string): Promise<void> {
    await this.#copies.forget(saved);
  }

  /** Ends what an earlier daemon has kept ready. */
  async clear(): Promise<void> {
    // Where machines were used they will be again, and to ask the emulator for its version takes a while.
    if (this.#spares.wereUsed) findQemu().catch(() => undefined); // the next start tells it
    await Promise.all([this.#spares.clear(), this.#copies.clear()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#spares.close(), this.#copies.close()]);
  }

  async #resume(tools: Tools, saved: string, folder: MachineFolder, names: WallSpec & MachineNames): Promise<Started> {
    const { qemu } = tools;
    const frozen = findSavedMachine(saved, qemu.version);
    if (!existsSync(frozen.environment))
      throw failure("SANDBOX_START_FAILED", "The environment of the saved machine is gone from the cache", {
        hint: "Reset to a snapshot without its processes",
      });
    folder.writeOrigin({ rootfs: names.rootfs, limits: names.limits });
    const options = await this.#options(tools, frozen, folder, names);
    const spare = await this.#copies.take(saved, names.signal);
    try {
      if (!spare) await copySavedDisks(saved, folder);
      const thawed = spare ? await takeOver(spare, options) : await thaw(options);
      return { qemu, frozen, seed: names.seed, thawed };
    } finally {
      this.keepReady(saved, names.seed);
    }
  }

  /** A new disk for the first machine of a sandbox; a later one gets the disk that the last has left, and a spare of its own. */
  async #begin(tools: Tools, folder: MachineFolder, names: WallSpec & MachineNames): Promise<Started> {
    const { rootfs, limits, signal, progress } = names;
    const template = await this.template(tools, { rootfs, limits }, { signal, progress });
    folder.writeOrigin({ rootfs, limits });
    const options = await this.#options(tools, template, folder, names);
    const spare = folder.hasDisk ? undefined : await this.#spares.take(template.key, signal);
    try {
      if (!spare) await folder.copyDisk(template.disk, folder.hasDisk ? folder.spare : folder.disk, signal);
      const thawed = spare ? await takeOver(spare, options) : await thaw(options);
      return { qemu: tools.qemu, frozen: template, seed: names.seed, thawed };
    } catch (error) {
      const parts = [template.memory, template.environment, tools.boot.initrd, names.seed];
      throw parts.every((path) => path === undefined || existsSync(path))
        ? error
        : new PrunedMeanwhile("a part", { cause: error });
    } finally {
      this.#spares.wish(template.key, async (place, { signal: giveUp, hurry }) => {
        await place.copyDisk(template.disk, place.disk, giveUp);
        makeHole(place.ownSeed); // a seed will be written into it
        return await thawSpare(await this.#spareOptions(tools, template, place, giveUp), place.ownSeed, hurry);
      });
    }
  }

  async #spareOptions(tools: Tools, frozen: Frozen, place: MachineFolder, signal: AbortSignal): Promise<ThawOptions> {
    const names = { sandboxName: place.path, hostname: undefined, layers: [], seed: undefined, signal };
    return await this.#options(tools, frozen, place, names);
  }

  async #options(
    tools: Tools,
    frozen: Frozen,
    folder: MachineFolder,
    names: Omit<MachineNames, "hostname"> & { readonly hostname: string | undefined },
  ): Promise<ThawOptions> {
    const { sandboxName: name, hostname, layers, seed, signal } = names;
    const { qemu, boot } = tools;
    const common = { qemu: qemu.program, boot, idMap: this.#idMap, empty: await this.#images.empty() };
    return { ...common, frozen, folder, name, hostname, layers, seed, signal };
  }

  async #bootFiles(options: PrepareOptions): Promise<BootFiles> {
    return await ensureBootFiles(this.#cache, await ensureKernel(this.#cache, options));
  }
}
