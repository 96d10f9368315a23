import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isClocheError } from "../../base/errors.ts";
import { type IdMap, OWN_IDS } from "../../base/id-map.ts";
import { identifyProcess } from "../../base/process-identity.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { makeWorkFolder } from "../../base/work-folder.ts";
import type {
  Backend,
  BackendCapabilities,
  BackendProbe,
  HomelessSandbox,
  Wall,
  WallRecord,
  WallSpec,
} from "../../contracts/backend.ts";
import type { GuestClient } from "../../guest/client.ts";
import { Cgroups } from "../../walls/cgroup.ts";
import { copyLayer } from "../../walls/copy-layer.ts";
import { emptySandbox } from "../../walls/empty-sandbox.ts";
import { guestProgram } from "../../walls/guest-program.ts";
import { connectGuest } from "../../guest/connect-guest.ts";
import { fileAppears } from "../../walls/file-appears.ts";
import { idMapArguments } from "../../walls/id-map-arguments.ts";
import { makeLayers, makeOwned, writableLayer } from "../../walls/layers.ts";
import { unavailable } from "../../walls/unavailable.ts";
import { type ContainerRecord, ContainerWall } from "./container-wall.ts";
import { enclosedGuest, enclosureOptions } from "./enclosed-guest.ts";
import { findHomelessWalls } from "./homeless-walls.ts";
import { canInheritDescriptors, makesSocket, ociArguments, ociConfig } from "./oci.ts";
import { startFailure } from "./start-failure.ts";
import { SpareWall } from "./spare-wall.ts";
import { WallProcess, launchWall, logTail, recordedProcess } from "./wall-process.ts";

/** What a record and a probe call a wall that the launcher has made itself. */
const OWN_WALL = "namespaces";

/** The embedded backend: namespaces around an overlay, made by the launcher, or by an OCI runtime when asked. */
export class ContainerBackend implements Backend {
  readonly name = "container";
  readonly executionMode = "guest_socket";
  readonly capabilities: BackendCapabilities;
  readonly #home: string;
  readonly #idMap: IdMap;
  readonly #cgroups: Cgroups;
  readonly #spare: SpareWall;

  constructor(options: { home: string; idMap: IdMap }) {
    this.#home = options.home;
    this.#idMap = options.idMap;
    // A user other than root has one id for a sandbox. So the files of its system belong to the same user as its commands.
    const guardedSystem = options.idMap.kind === "shifted";
    this.capabilities = {
      hostFolders: true,
      ociRuntime: true,
      liveSnapshots: false,
      guardedSystem,
      doors: true,
      remediation: true,
    };
    this.#cgroups = Cgroups.detect(options.home);
    this.#spare = new SpareWall(() => ["--guest", guestProgram(), ...this.#idArguments(undefined)]);
  }

  async probe(ociRuntime: string | undefined): Promise<BackendProbe> {
    const limits = [
      ...this.#cgroups.health(),
      { name: "disk" as const, holds: false, detail: "not enforced; /tmp, /run and /dev/shm are bounded by memory" },
    ];
    // Where workspaces are: what a file system can do is part of the answer.
    const directory = await makeWorkFolder(this.#home, "probe");
    const id = `probe-${process.pid}-${Date.now().toString(36)}`;
    try {
      const wall = await this.start(emptySandbox(directory, id, ociRuntime), undefined);
      await wall.stop();
      const who = this.#idMap.kind === "shifted" ? "as root" : "rootless";
      const detail = [ociRuntime ?? OWN_WALL, who, ...sharedIds(directory)].join(", ");
      return { available: true, detail, hint: null, limits };
    } catch (error) {
      return { ...unavailable(error), limits };
    } finally {
      await this.remove(id, directory);
    }
  }

  async start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Wall> {
    const { directory, ociRuntime } = spec;
    makeLayers(directory, this.#idMap);
    const commandsApart =
      this.#cgroups.canSetCommandsApart && (ociRuntime === undefined || canInheritDescriptors(ociRuntime));
    const launcher = [
      ...this.#launcherArguments(spec, commandsApart),
      ...(ociRuntime === undefined ? [] : prepareBundle(spec, ociRuntime, this.#idMap, commandsApart)),
    ];
    const program = ociRuntime === undefined ? enclosedGuest(spec, commandsApart) : ociArguments(spec, ociRuntime);
    const { process: wall, exited } = await launchWall(directory, launcher, program);
    const ended = exited.then((): never => {
      throw startFailure(logTail(directory), ociRuntime);
    });
    const madeByGuest = ociRuntime !== undefined && makesSocket(ociRuntime);
    const socket = madeByGuest ? "socket/guest.sock" : "guest.sock";
    try {
      const first = await Promise.race([firstConnection(join(directory, socket), madeByGuest, signal), ended]);
      const inner = wall.rememberInner();
      const record: ContainerRecord = {
        kind: ociRuntime ?? OWN_WALL,
        ...wall.outer,
        inner,
        socket,
      };
      if (ociRuntime === undefined) this.#spare.renewSoon();
      return new ContainerWall(directory, record, wall, first);
    } catch (error) {
      await wall.kill();
      // A wall that ended before its hello shows as a connection that is lost or refused; its own words say more.
      if (!isClocheError(error) || error.code === "SANDBOX_LOST") throw startFailure(logTail(directory), ociRuntime);
      throw error;
    } finally {
      ended.catch(() => undefined); // once started, an end is the guest connection's to tell
    }
  }

  adopt(directory: string, record: WallRecord): Promise<Wall | undefined> {
    const known = record as ContainerRecord;
    const wall = new WallProcess(known, known.inner);
    return Promise.resolve(wall.alive() ? new ContainerWall(directory, known, wall) : undefined);
  }

  copyLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number> {
    return copyLayer(writableLayer(directory), target, this.#idMap, signal);
  }

  async halt(sandboxName: string, directory: string): Promise<void> {
    const outer = recordedProcess(directory);
    if (outer) await new WallProcess(outer, []).kill();
    // Whatever else is in its cgroups, such as a guest whose outer process was killed.
    for (const pid of this.#cgroups.processes(sandboxName)) {
      const identity = identifyProcess(pid);
      if (identity) await new WallProcess(identity, []).kill();
    }
    await this.#cgroups.remove(sandboxName);
  }

  async findHomeless(): Promise<HomelessSandbox[]> {
    return await Promise.resolve(findHomelessWalls());
  }

  async remove(sandboxName: string, directory: string, discard = removeTree): Promise<void> {
    await this.halt(sandboxName, directory);
    await discard(directory);
  }

  #launcherArguments(spec: WallSpec, commandsApart: boolean): string[] {
    const { joins, commands } = this.#cgroups.create(spec.sandboxName, spec.limits, commandsApart);
    // prettier-ignore
    return [
      // The starter looks for `--spare` in the first place.
      ...(spec.ociRuntime === undefined ? ["--spare", ...enclosureOptions(spec)] : []),
      "--root", spec.rootfs.root, "--baseline", spec.baseline, "--guest", guestProgram(),
      ...this.#idArguments(spec.ociRuntime),
      ...spec.rootfs.hostPaths.flatMap((path) => ["--host-folder", path]),
      ...spec.rootfs.coveredPaths.flatMap((path) => ["--cover", path]),
      ...spec.layers.flatMap((path) => ["--layer", path]),
      ...joins.flatMap((path) => ["--cgroup", path]),
      ...(commands === undefined ? [] : ["--commands-cgroup", commands]),
    ];
  }

  /** An OCI runtime starts as root of the launcher's user namespace, and gives agent its id in one more. */
  #idArguments(ociRuntime: string | undefined): string[] {
    if (this.#idMap.kind === "shifted")
      return [...idMapArguments(this.#idMap), "--own-ids", `${OWN_IDS.first}:${OWN_IDS.ranges}`];
    return ociRuntime === undefined ? ["--single-agent"] : idMapArguments(this.#idMap);
  }
}

/** What the launcher has noted where a sandbox of root could not have ids of its own. */
function sharedIds(directory: string): string[] {
  const file = join(directory, "wall.ids");
  const [, reason] = (existsSync(file) && /^shared (.*)$/m.exec(readFileSync(file, "utf8"))) || [];
  return reason === undefined ? [] : [`its sandboxes share their user ids (${reason})`];
}

/** The launcher's socket listens from the start; one that a guest makes, under gVisor, does so a while later. */
async function firstConnection(
  path: string,
  madeByGuest: boolean,
  signal: AbortSignal | undefined,
): Promise<GuestClient> {
  if (madeByGuest) await fileAppears(`${path}.ready`, signal);
  return await connectGuest(path, signal);
}

function prepareBundle(spec: WallSpec, runtime: string, idMap: IdMap, commandsApart: boolean): string[] {
  const owner = idMap.toHost(0, 0);
  const bundle = join(spec.directory, "bundle");
  makeOwned(bundle, 0o755, owner);
  writeFileSync(join(bundle, "config.json"), JSON.stringify(ociConfig(spec, runtime, idMap, commandsApart)), {
    mode: 0o644,
  });
  if (!makesSocket(runtime)) return ["--bundle", bundle];
  const folder = join(spec.directory, "socket");
  makeOwned(folder, 0o700, owner);
  // From an earlier start of the same workspace: they would be taken for this one's.
  for (const name of ["guest.sock", "guest.sock.ready"]) rmSync(join(folder, name), { force: true });
  return ["--bundle", bundle, "--socket-folder", folder];
}
