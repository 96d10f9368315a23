import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isClocheError, messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import type { Log } from "../../base/log.ts";
import { removeTree } from "../../base/remove-tree.ts";
import type {
  Backend,
  BackendProbe,
  PrepareOptions,
  Wall,
  WallLimits,
  WallRecord,
  WallSpec,
} from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { GuestFiles } from "../../guest/files.ts";
import { failure } from "../../model/error-codes.ts";
import type { LimitHealth } from "../../model/health.ts";
import { unpackLayer } from "../../walls/layer-stream.ts";
import { type Acceleration, chooseAccelerator } from "./accelerator.ts";
import { type BootFiles, ensureBootFiles } from "./boot-files.ts";
import { DiskImages, copyDisk, makeHole } from "./disk-images.ts";
import { GuestPorts } from "./guest-ports.ts";
import { ensureKernel } from "./kernel.ts";
import { LookingFolder, MachineFolder, type MachineOrigin } from "./machine-folder.ts";
import { MachineProcess, recordedMachine } from "./machine-process.ts";
import { type Qemu, findQemu } from "./qemu.ts";
import { saveMachine, takeSavedMachine } from "./saved-machine.ts";
import { type Spare, SpareMachines } from "./spare-machines.ts";
import { ensureTemplate, type Template } from "./template.ts";
import { type Frozen, type ThawOptions, type Thawed, takeOver, thaw, thawSpare } from "./thaw.ts";
import { VmCache } from "./vm-cache.ts";
import { VmWall, shutDown } from "./vm-wall.ts";

const ROOT = { uid: 0, gid: 0 };

const LIMITS: readonly LimitHealth[] = [
  { name: "memory", holds: true, detail: "the machine's own memory" },
  { name: "pids", holds: true, detail: "RLIMIT_NPROC" },
  { name: "cpu", holds: true, detail: "the machine's own processors" },
  { name: "disk", holds: false, detail: "64 GiB, the size of the machine's disk" },
];

/** What the store keeps beside the emulator's identity: enough to save the machine. */
interface VmRecord extends WallRecord {
  readonly memory: string;
  readonly environment: string;
  readonly shape: Template["shape"];
  readonly qemu: string;
}

export interface VmOptions {
  readonly home: string;
  readonly cache: string;
  readonly idMap: IdMap;
  readonly log: Log;
}

type MachineNames = Pick<WallSpec, "workspaceId" | "hostname" | "layers"> & {
  readonly seed: string | undefined;
  readonly signal: AbortSignal | undefined;
};
type Names = MachineNames & MachineOrigin;

interface Started {
  readonly frozen: Frozen;
  readonly thawed: Thawed;
}

interface Tools {
  readonly qemu: Qemu;
  readonly boot: BootFiles;
  readonly acceleration: Acceleration;
}

/**
 * Machines of QEMU, thawed from a template that has booted once. Nothing of the host's file system is shared with one: it gets disks, and what it wrote is
 * asked for. See `docs/backends/vm.md`.
 */
export class VmBackend implements Backend {
  readonly name = "vm";
  readonly capabilities = { hostFolders: false, ociRuntime: false, liveSnapshots: true, guardedSystem: true };
  readonly #cache: VmCache;
  readonly #images: DiskImages;
  readonly #idMap: IdMap;
  readonly #log: Log;
  /** Of the machines that run, by their folder: connections of one must not meet on a port. */
  readonly #ports = new Map<string, GuestPorts>();
  readonly #spares: SpareMachines;
  #boot: Promise<BootFiles> | undefined;

  constructor({ home, cache, idMap, log }: VmOptions) {
    this.#spares = new SpareMachines(home, log);
    this.#cache = new VmCache(cache);
    this.#images = new DiskImages(this.#cache, idMap);
    this.#idMap = idMap;
    this.#log = log;
  }

  async probe(): Promise<BackendProbe> {
    try {
      const { qemu, acceleration } = await this.#tools({});
      const version = /version (\S+)/.exec(qemu.version)?.[1] ?? "";
      const how = acceleration.accelerator === "kvm" ? "KVM" : "emulated";
      return {
        available: true,
        detail: `QEMU ${version}, ${how} (${acceleration.reason})`,
        hint: null,
        limits: LIMITS,
      };
    } catch (error) {
      const hint = isClocheError(error) ? error.hint : "See daemon.log in the cloche home";
      return { available: false, detail: messageOf(error), hint, limits: LIMITS };
    }
  }

  async prepare(rootfs: Rootfs, limits: WallLimits, options: PrepareOptions): Promise<void> {
    await this.#template(await this.#tools(options), { rootfs, limits }, options);
  }

  async start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Wall> {
    const { rootfs, limits, machine } = spec;
    const tools = await this.#tools({ signal });
    const folder = new MachineFolder(spec.directory);
    folder.make();
    // A disk whose layers did not all arrive was never used.
    if (folder.hasDisk && !folder.isFilled) await rm(folder.disk);
    const seed = await this.#images.seed(spec.baseline, signal);
    const names = { ...spec, seed, signal };
    const { frozen, thawed } =
      machine !== undefined && !folder.hasDisk
        ? await this.#resume(tools, machine, folder, names)
        : await this.#begin(tools, folder, { rootfs, limits }, names);
    const { memory, environment, shape } = frozen;
    const record: VmRecord = {
      kind: "qemu",
      ...thawed.process.identity,
      executionMode: "guest_socket",
      ...{ memory, environment, shape, qemu: tools.qemu.version },
    };
    this.#ports.set(spec.directory, thawed.ports);
    return new VmWall(record, thawed.process, thawed.ports, thawed.first);
  }

  adopt(directory: string, record: WallRecord): Promise<Wall | undefined> {
    const process = new MachineProcess(record);
    return Promise.resolve(process.alive() ? new VmWall(record, process, this.#portsOf(directory)) : undefined);
  }

  async copyLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number> {
    if (recordedMachine(join(directory, "machine"))?.alive() === true)
      return await this.#receiveLayer(this.#portsOf(directory), target, signal);
    return await this.#lookInto(directory, signal, (ports) => this.#receiveLayer(ports, target, signal));
  }

  async saveMachine(directory: string, record: WallRecord, target: string): Promise<number> {
    const { pid, memory, environment, shape, qemu } = record as VmRecord;
    const facts = { environment, shape, qemu, freePort: this.#portsOf(directory).free };
    return await saveMachine({ pid, memory, folder: new MachineFolder(directory), facts }, target);
  }

  async halt(_workspaceId: string, directory: string): Promise<void> {
    for (const folder of [directory, join(directory, "look")]) {
      const machine = recordedMachine(join(folder, "machine"));
      if (machine) await shutDown(machine, this.#portsOf(folder));
      this.#ports.delete(folder);
    }
  }

  async remove(_workspaceId: string, directory: string): Promise<void> {
    for (const folder of [directory, join(directory, "look")]) {
      await recordedMachine(join(folder, "machine"))?.kill();
      this.#ports.delete(folder);
    }
    await removeTree(directory);
  }

  async recover(): Promise<void> {
    await this.#spares.clear();
  }

  async close(): Promise<void> {
    await this.#spares.close();
  }

  /** The disk of a machine that does not run is read by another machine: the host opens no file system that a guest has written. */
  async #lookInto<Result>(
    directory: string,
    signal: AbortSignal | undefined,
    look: (ports: GuestPorts) => Promise<Result>,
  ): Promise<Result> {
    const left = new MachineFolder(directory);
    const origin = left.readOrigin();
    if (!origin || !left.hasDisk)
      throw failure("SANDBOX_LOST", "The disk of the workspace is gone, and what was written with it");
    const tools = await this.#tools({ signal });
    const template = await this.#template(tools, origin, { signal });
    const folder = new LookingFolder(join(directory, "look"), left.disk);
    await removeTree(folder.path);
    mkdirSync(folder.path, { mode: 0o700 });
    try {
      await folder.copyDisk(template.disk, folder.spare, signal);
      const names = { workspaceId: folder.path, hostname: "cloche-look" };
      const bare = { ...names, seed: undefined, layers: [], signal };
      const { process, ports, first } = await thaw(await this.#options(tools, template, folder, bare));
      first.close();
      try {
        return await look(ports);
      } finally {
        await shutDown(process, ports);
      }
    } finally {
      await removeTree(folder.path);
    }
  }

  async #receiveLayer(ports: GuestPorts, target: string, signal: AbortSignal | undefined): Promise<number> {
    const client = await ports.connect(signal);
    try {
      return await unpackLayer(new GuestFiles(client, ROOT).layerOut({ signal }), target, this.#idMap, signal);
    } finally {
      client.close();
    }
  }

  async #resume(tools: Tools, machine: string, folder: MachineFolder, names: Names): Promise<Started> {
    const frozen = await takeSavedMachine(machine, tools.qemu.version, folder);
    folder.writeOrigin({ rootfs: names.rootfs, limits: names.limits });
    return { frozen, thawed: await thaw(await this.#options(tools, frozen, folder, names)) };
  }

  /** A new disk for the first machine of a sandbox; a later one gets the disk that the last has left, and a spare of its own. */
  async #begin(tools: Tools, folder: MachineFolder, origin: MachineOrigin, names: Names): Promise<Started> {
    const template = await this.#template(tools, origin, { signal: names.signal });
    folder.writeOrigin(origin);
    const spare = folder.hasDisk ? undefined : this.#spares.take(template.memory);
    const options = await this.#options(tools, template, folder, names);
    try {
      if (spare) return { frozen: template, thawed: await this.#takeOver(spare, options) };
      await folder.copyDisk(template.disk, folder.hasDisk ? folder.spare : folder.disk, names.signal);
      return { frozen: template, thawed: await thaw(options) };
    } finally {
      this.#spares.wish(template.memory, async (place) => {
        await place.copyDisk(template.disk, place.disk);
        makeHole(place.ownSeed);
        return await thawSpare({ ...options, folder: place, name: place.path, signal: undefined });
      });
    }
  }

  async #takeOver({ folder, machine }: Spare, options: ThawOptions): Promise<Thawed> {
    // Written into the disk that the machine has open, and has not looked at yet.
    if (options.seed !== undefined) await copyDisk(options.seed, folder.ownSeed, options.signal);
    options.folder.take(folder);
    await removeTree(folder.path);
    return await takeOver(machine, options);
  }

  async #options(tools: Tools, frozen: Frozen, folder: MachineFolder, names: MachineNames): Promise<ThawOptions> {
    const { workspaceId: name, hostname, layers, seed, signal } = names;
    const { qemu, boot } = tools;
    const common = { qemu: qemu.program, boot, idMap: this.#idMap, empty: await this.#images.empty() };
    return { ...common, frozen, folder, name, hostname, layers, seed, signal };
  }

  async #template(tools: Tools, { rootfs, limits }: MachineOrigin, options: PrepareOptions): Promise<Template> {
    const shape = {
      accelerator: tools.acceleration.accelerator,
      memMib: limits.memMib,
      vcpuCount: limits.vcpuCount,
    };
    const sources = { cache: this.#cache, images: this.#images, idMap: this.#idMap, log: this.#log };
    return await ensureTemplate(sources, { ...tools, ...options, rootfs, shape });
  }

  async #tools(options: PrepareOptions): Promise<Tools> {
    const qemu = await findQemu();
    this.#boot ??= this.#bootFiles(options).catch((error: unknown) => {
      this.#boot = undefined;
      throw error;
    });
    const boot = await this.#boot;
    const acceleration = await chooseAccelerator(this.#cache, this.#images, this.#idMap, qemu, boot);
    return { qemu, boot, acceleration };
  }

  async #bootFiles(options: PrepareOptions): Promise<BootFiles> {
    return await ensureBootFiles(this.#cache, await ensureKernel(this.#cache, options));
  }

  #portsOf(directory: string): GuestPorts {
    const known = this.#ports.get(directory) ?? new GuestPorts(join(directory, "machine"));
    this.#ports.set(directory, known);
    return known;
  }
}
