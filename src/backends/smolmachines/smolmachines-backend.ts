import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import { randomName } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { workspaceDirectory } from "../../base/paths.ts";
import { isProcessAlive } from "../../base/process-identity.ts";
import { removeTree } from "../../base/remove-tree.ts";
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
import { connectGuest } from "../../guest/connect-guest.ts";
import { unpackLayer } from "../../walls/layer-stream.ts";
import { unavailable } from "../../walls/unavailable.ts";
import { MachineImages } from "./machine-image.ts";
import { isGone, placeOf } from "../../walls/homeless.ts";
import { type MachineRecord, readMachineRecord, writeMachineRecord } from "./machine-record.ts";
import { GUEST_SOCKET, Machine, hostSocket } from "./machine.ts";
import { Smolvm } from "./smolvm.ts";
import { bareArguments, createArguments, deleteArguments, startArguments } from "./smolvm-arguments.ts";
import { type SmolmachinesRecord, SmolmachinesWall } from "./smolmachines-wall.ts";

/** The longest name of a unix socket. */
const MAX_SOCKET_BYTES = 107;
const HOME_LABEL = "cloche.home";
const WORKSPACE_LABEL = "cloche.workspace";
const DIRECTORY_LABEL = "cloche.directory";
/** The digest of the environment, by which a machine of any home keeps the copy that it was made from. */
const IMAGE_LABEL = "cloche.image";
const ROOT = { uid: 0, gid: 0 };

const LIMITS: readonly LimitHealth[] = [
  { name: "memory", holds: true, detail: "the machine's own memory" },
  { name: "pids", holds: true, detail: "RLIMIT_NPROC" },
  { name: "cpu", holds: true, detail: "the machine's own processors" },
  { name: "disk", holds: false, detail: "the machine's disk, of the size that smolvm gives it" },
];

const idOf = (home: string): string => createHash("sha256").update(home).digest("hex").slice(0, 10);

export interface SmolmachinesOptions {
  readonly home: string;
  readonly cache: string;
  readonly idMap: IdMap;
  readonly log: Log;
  readonly smolvm?: Smolvm;
}

/**
 * Machines of the `smolvm` program. Nothing of the host's file system is shared with one: the baseline and the layers of `/workspace` are sent to its disk,
 * and what was written there is sent back. See `docs/backends/smolmachines.md`.
 */
export class SmolmachinesBackend implements Backend {
  readonly name = "smolmachines";
  readonly executionMode = "guest_socket";
  readonly isMachine = true;
  readonly capabilities = {
    hostFolders: false,
    ociRuntime: false,
    liveSnapshots: false,
    machineFiles: true,
    guardedSystem: true,
    doors: true,
  };
  readonly #homeId: string;
  readonly #idMap: IdMap;
  readonly #images: MachineImages;
  readonly #smolvm: Smolvm;
  readonly #home: string;
  readonly #log: Log;
  readonly #probes = new Set<string>();
  #tidied: Promise<void> | undefined;

  constructor({ home, cache, idMap, log, smolvm = new Smolvm() }: SmolmachinesOptions) {
    this.#home = home;
    this.#log = log;
    this.#homeId = idOf(home);
    this.#idMap = idMap;
    this.#images = new MachineImages(cache, idMap);
    this.#smolvm = smolvm;
  }

  async probe(): Promise<BackendProbe> {
    const name = `${this.#namePrefix}probe-${randomName(6)}`;
    const { bootMs } = this.#smolvm.deadlines;
    this.#probes.add(name);
    try {
      const version = await this.#smolvm.checkVersion();
      try {
        await this.#smolvm.run(bareArguments(name, this.#labels("probe")));
        await this.#smolvm.run(startArguments(name), { deadlineMs: bootMs });
      } finally {
        await this.#smolvm.call(deleteArguments(name), { deadlineMs: bootMs });
      }
      return { available: true, detail: `smolvm ${version}`, hint: null, limits: LIMITS };
    } catch (error) {
      return { ...unavailable(error), limits: LIMITS };
    } finally {
      this.#probes.delete(name);
    }
  }

  async prepare(rootfs: Rootfs, _limits: WallLimits, options: PrepareOptions): Promise<void> {
    await this.#smolvm.checkVersion();
    if (rootfs.machineFile === undefined) await this.#images.ensure(rootfs, options);
  }

  async start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Wall> {
    await this.#smolvm.checkVersion();
    await (this.#tidied ??= this.#removeOrphans());
    const { directory } = spec;
    const found = await readMachineRecord(directory);
    const record = found ?? (await this.#create(spec, signal));
    const machine = new Machine(this.#smolvm, directory, record);
    try {
      const identity = await machine.boot(signal);
      await machine.copyProgram(signal);
      await machine.fill([spec.baseline, ...spec.layers], this.#idMap, signal);
      const first = await machine.lodge(signal);
      const wallRecord: SmolmachinesRecord = { kind: "smolvm", ...identity };
      return new SmolmachinesWall(directory, wallRecord, machine, first);
    } catch (error) {
      await machine.stop().catch(() => undefined); // why it did not start says more
      throw error;
    }
  }

  async adopt(directory: string, record: WallRecord): Promise<Wall | undefined> {
    const machine = await readMachineRecord(directory);
    const known = record as SmolmachinesRecord;
    if (!machine || !isProcessAlive(known)) return undefined;
    return new SmolmachinesWall(directory, known, new Machine(this.#smolvm, directory, machine));
  }

  async copyLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number> {
    const record = await readMachineRecord(directory);
    if (!record?.filled)
      throw failure("SANDBOX_LOST", "The machine of the workspace is gone, and what it has written with it");
    const status = await this.#smolvm.status(record.name);
    if (status?.state === "running") return await this.#receiveLayer(directory, target, signal);
    const machine = new Machine(this.#smolvm, directory, record);
    await machine.boot(signal);
    try {
      await machine.copyProgram(signal);
      (await machine.lodge(signal)).close();
      return await this.#receiveLayer(directory, target, signal);
    } finally {
      await machine.stop();
    }
  }

  async halt(_sandboxName: string, directory: string): Promise<void> {
    const record = await readMachineRecord(directory);
    if (record) await new Machine(this.#smolvm, directory, record).stop();
  }

  async remove(_sandboxName: string, directory: string, discard = removeTree): Promise<void> {
    const record = await readMachineRecord(directory);
    if (record) await new Machine(this.#smolvm, directory, record).delete();
    await discard(directory);
  }

  /** Where it cannot be told which machines there are, every copy may be in use. */
  async prune({ environments, ...options }: PruneKeep): Promise<Removed[]> {
    if ((await this.#images.names()).length === 0) return [];
    const machines = (await this.#smolvm.list()).filter(({ labels }) => labels[HOME_LABEL] !== undefined);
    const used = machines.map(({ labels }) => labels[IMAGE_LABEL]).filter((digest) => digest !== undefined);
    return await this.#images.prune(new Set([...environments, ...used]), options);
  }

  /** Machines of this home whose sandbox's folder is gone, or that a killed daemon was trying; once for each daemon. Never rejects. */
  async #removeOrphans(): Promise<void> {
    try {
      for (const { name, labels } of await this.#smolvm.list()) {
        // A packed machine may bring labels along; the name is given by cloche when it makes a machine of it.
        if (labels[HOME_LABEL] !== this.#homeId || !name.startsWith(this.#namePrefix)) continue;
        if (this.#probes.has(name) || this.#isNeeded(labels)) continue;
        this.#log.warn("removing a machine that belongs to no workspace", { machine: name });
        await this.#smolvm.run(deleteArguments(name), { deadlineMs: this.#smolvm.deadlines.bootMs });
      }
    } catch (error) {
      this.#log.warn("cannot look for machines that were left", { reason: messageOf(error) });
    }
  }

  /** SECURITY: the name and all labels of a machine have to be those that one home gives to one sandbox (G-81). */
  async findHomeless(): Promise<HomelessSandbox[]> {
    const machines = await this.#smolvm.list().catch(() => []);
    return machines.flatMap(({ name, labels }) => {
      const place = placeOf(labels[DIRECTORY_LABEL] ?? "");
      if (!place || !isGone(place.home)) return [];
      const { home, workspaceId, sandboxName } = place;
      const homeId = idOf(home);
      const isOurs =
        name === `cloche-${homeId}-${sandboxName}` &&
        labels[HOME_LABEL] === homeId &&
        labels[WORKSPACE_LABEL] === sandboxName;
      if (!isOurs) return [];
      const remove = async () => {
        await this.#smolvm.run(deleteArguments(name), { deadlineMs: this.#smolvm.deadlines.bootMs });
      };
      return [{ home, workspaceId, remove }];
    });
  }

  get #namePrefix(): string {
    return `cloche-${this.#homeId}-`;
  }

  #isNeeded(labels: Readonly<Record<string, string>>): boolean {
    const [, workspaceId, generation] = /^(.+)-(g\d+)$/.exec(labels[WORKSPACE_LABEL] ?? "") ?? [];
    if (workspaceId === undefined || generation === undefined) return false;
    return existsSync(join(workspaceDirectory(this.#home, workspaceId), generation));
  }

  /** The machine is noted before it is made, so that a later daemon finds it whatever happens. */
  async #create(spec: WallSpec, signal: AbortSignal | undefined): Promise<MachineRecord> {
    const { directory, sandboxName, limits, layers, hostname } = spec;
    const host = hostSocket(directory);
    if (Buffer.byteLength(host) > MAX_SOCKET_BYTES) {
      throw failure("SANDBOX_START_FAILED", `The path "${host}" is too long for a socket`, {
        hint: "Set CLOCHE_HOME to a folder with a shorter path",
      });
    }
    const image =
      spec.rootfs.machineFile ?? (await this.#images.ensure(spec.rootfs, { signal, progress: spec.progress }));
    const name = `${this.#namePrefix}${sandboxName}`;
    const record = { name, hostname, memMib: limits.memMib, layers: layers.length, filled: false };
    await writeMachineRecord(directory, record);
    const { vcpuCount, memMib } = limits;
    const socket = { guest: GUEST_SOCKET, host };
    const own = { [IMAGE_LABEL]: spec.rootfs.digest, [DIRECTORY_LABEL]: directory };
    const labels = { ...this.#labels(sandboxName), ...own };
    await this.#smolvm.run(createArguments({ name, image, vcpuCount, memMib, labels, socket }), {
      deadlineMs: this.#smolvm.deadlines.copyMs, // it may copy the image
      signal,
    });
    return record;
  }

  async #receiveLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number> {
    const client = await connectGuest(hostSocket(directory), signal);
    try {
      return await unpackLayer(new GuestFiles(client, ROOT).layerOut({ signal }), target, this.#idMap, signal);
    } finally {
      client.close();
    }
  }

  #labels(sandboxName: string): Record<string, string> {
    return { [HOME_LABEL]: this.#homeId, [WORKSPACE_LABEL]: sandboxName };
  }
}
