import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { IdMap } from "../../base/id-map.ts";
import { removeTree } from "../../base/remove-tree.ts";
import type { ProcessIdentity } from "../../base/process-identity.ts";
import type {
  Backend,
  BackendProbe,
  HomelessSandbox,
  PrepareOptions,
  PruneKeep,
  Removed,
  Wall,
  WallLimits,
  WallRecord,
  WallSpec,
} from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { GuestFiles } from "../../guest/files.ts";
import { failure } from "../../model/error-codes.ts";
import type { LimitHealth } from "../../model/health.ts";
import type { ReportProgress } from "../../model/progress.ts";
import { unpackLayer } from "../../walls/layer-stream.ts";
import { unavailable } from "../../walls/unavailable.ts";
import { GuestPorts } from "./guest-ports.ts";
import { findHomelessMachines } from "./homeless-machines.ts";
import { LookingFolder, MachineFolder } from "./machine-folder.ts";
import { MachineProcess, recordedMachine } from "./machine-process.ts";
import { MachineStarter, type VmOptions } from "./machine-starter.ts";
import { saveMachine } from "./saved-machine.ts";
import type { Template } from "./template.ts";
import { VmWall, shutDown } from "./vm-wall.ts";

const ROOT = { uid: 0, gid: 0 };

const LIMITS: readonly LimitHealth[] = [
  { name: "memory", holds: true, detail: "the machine's own memory" },
  { name: "pids", holds: true, detail: "RLIMIT_NPROC" },
  { name: "cpu", holds: true, detail: "the machine's own processors" },
  { name: "disk", holds: false, detail: "64 GiB, the size of the machine's disk" },
];

/** What the store keeps beside the emulator's identity: enough to save the machine. */
interface VmRecord extends WallRecord, ProcessIdentity {
  readonly memory: string;
  readonly environment: string;
  readonly seed?: string | undefined;
  readonly shape: Template["shape"];
  readonly qemu: string;
}

/**
 * Machines of QEMU, thawed from a template that has booted once. Nothing of the host's file system is shared with one: it gets disks, and what it wrote is
 * asked for. See `docs/backends/vm.md`.
 */
export class VmBackend implements Backend {
  readonly name = "vm";
  readonly executionMode = "guest_serial";
  readonly capabilities = {
    hostFolders: false,
    ociRuntime: false,
    liveSnapshots: true,
    guardedSystem: true,
    doors: true,
    remediation: true,
  };
  readonly isMachine = true;
  /** With 64 the kernel finds no room to unpack what it starts from; with 96 it was seen to boot. */
  readonly smallestMemMib = 128;
  readonly #starter: MachineStarter;
  readonly #idMap: IdMap;
  /** Of the machines that run, by their folder: connections of one must not meet on a port. */
  readonly #ports = new Map<string, GuestPorts>();

  constructor(options: VmOptions) {
    this.#starter = new MachineStarter(options);
    this.#idMap = options.idMap;
  }

  async isEmulated(options: PrepareOptions): Promise<boolean> {
    return (await this.#starter.tools(options)).acceleration.accelerator === "tcg";
  }

  async probe(_ociRuntime?: string, progress?: ReportProgress): Promise<BackendProbe> {
    try {
      const { qemu, acceleration } = await this.#starter.tools({ progress });
      const version = /version (\S+)/.exec(qemu.version)?.[1] ?? "";
      const how = acceleration.accelerator === "kvm" ? "KVM" : "emulated";
      return {
        available: true,
        detail: `QEMU ${version}, ${how} (${acceleration.reason})`,
        hint: null,
        limits: LIMITS,
      };
    } catch (error) {
      return { ...unavailable(error), limits: LIMITS };
    }
  }

  async prepare(rootfs: Rootfs, limits: WallLimits, options: PrepareOptions): Promise<void> {
    await this.#starter.template(await this.#starter.tools(options), { rootfs, limits }, options);
  }

  async start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Wall> {
    const { qemu, frozen, seed, thawed } = await this.#starter.start(spec, signal);
    const { memory, environment, shape } = frozen;
    const record: VmRecord = {
      kind: "qemu",
      ...thawed.process.identity,
      ...{ memory, environment, seed, shape, qemu: qemu.version },
    };
    this.#ports.set(spec.directory, thawed.ports);
    return new VmWall(record, thawed.process, thawed.ports, thawed.first);
  }

  adopt(directory: string, record: WallRecord): Promise<Wall | undefined> {
    const process = new MachineProcess(record as VmRecord);
    return Promise.resolve(process.alive() ? new VmWall(record, process, this.#portsOf(directory)) : undefined);
  }

  async copyLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number> {
    if (recordedMachine(join(directory, "machine"))?.alive() === true)
      return await this.#receiveLayer(this.#portsOf(directory), target, signal);
    return await this.#lookInto(directory, signal, (ports) => this.#receiveLayer(ports, target, signal));
  }

  async saveMachine(directory: string, record: WallRecord, target: string): Promise<number> {
    const { pid, memory, environment, seed, shape, qemu } = record as VmRecord;
    const facts = { environment, shape, qemu, freePort: this.#portsOf(directory).free };
    const bytes = await saveMachine({ pid, memory, folder: new MachineFolder(directory), facts }, target);
    this.#starter.keepReady(target, seed);
    return bytes;
  }

  async forgetMachine(saved: string): Promise<void> {
    await this.#starter.forget(saved);
  }

  async halt(_sandboxName: string, directory: string): Promise<void> {
    for (const folder of [directory, join(directory, "look")]) {
      const machine = recordedMachine(join(folder, "machine"));
      if (machine) await shutDown(machine, this.#portsOf(folder));
      this.#ports.delete(folder);
    }
  }

  async findHomeless(): Promise<HomelessSandbox[]> {
    return await Promise.resolve(findHomelessMachines());
  }

  async remove(_sandboxName: string, directory: string, discard = removeTree): Promise<void> {
    for (const folder of [directory, join(directory, "look")]) {
      await recordedMachine(join(folder, "machine"))?.kill();
      this.#ports.delete(folder);
    }
    await discard(directory);
  }

  async prune(keep: PruneKeep): Promise<Removed[]> {
    return await this.#starter.prune(keep);
  }

  async recover(): Promise<void> {
    await this.#starter.clear();
  }

  async close(): Promise<void> {
    await this.#starter.close();
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
    const tools = await this.#starter.tools({ signal });
    const template = await this.#starter.template(tools, origin, { signal });
    const folder = new LookingFolder(join(directory, "look"), left.disk);
    await removeTree(folder.path);
    mkdirSync(folder.path, { mode: 0o700 });
    try {
      await folder.copyDisk(template.disk, folder.spare, signal);
      const { process, ports, first } = await this.#starter.startToLook(tools, template, folder, signal);
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

  #portsOf(directory: string): GuestPorts {
    const known = this.#ports.get(directory) ?? new GuestPorts(join(directory, "machine"));
    this.#ports.set(directory, known);
    return known;
  }
}
