import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isClocheError, messageOf } from "../../base/errors.ts";
import type { IdMap } from "../../base/id-map.ts";
import type { Log } from "../../base/log.ts";
import { identifyProcess } from "../../base/process-identity.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { makeWorkFolder } from "../../base/work-folder.ts";
import type {
  Backend,
  BackendCapabilities,
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
import { DockerEngine } from "../../docker-engine/engine.ts";
import { isRefusal, refused } from "../../docker-engine/engine-failure.ts";
import { failure } from "../../model/error-codes.ts";
import { copyLayer } from "../../walls/copy-layer.ts";
import { emptySandbox } from "../../walls/empty-sandbox.ts";
import { makeOwned, makeWorkspaceLayer, writableLayer } from "../../walls/layers.ts";
import { unavailable } from "../../walls/unavailable.ts";
import { GUEST_SOCKET, containerConfig, socketFolder, volumeNames } from "./container-config.ts";
import { type CoveredFolder, forgetFolders, makeCovers, mountedFolders } from "./covered-folders.ts";
import { type DockerRecord, DockerWall } from "./docker-wall.ts";
import { canSetCommandsApart, describeEngine, engineLimits, registeredRuntime } from "./engine-check.ts";
import { readEngineRecord, removeEngineRecord, writeEngineRecord } from "./engine-record.ts";
import { EnvironmentImages } from "./environment-images.ts";
import { firstConnection } from "./first-connection.ts";
import { findHomelessContainers } from "./homeless-containers.ts";
import { containerLabels, containerName } from "./labels.ts";
import { linksFolder, makeLinks, removeLinks } from "./layer-links.ts";
import { restoreNameFiles } from "./name-files.ts";
import { removeOrphans } from "./orphans.ts";
import { UsableEngines } from "./usable-engines.ts";

export interface DockerBackendOptions {
  readonly home: string;
  readonly cache: string;
  readonly idMap: IdMap;
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
}

interface ContainerChoices {
  readonly name: string;
  readonly folders: readonly CoveredFolder[];
  /** Whether this version has made it. */
  readonly isKnown: boolean;
  readonly commandsApart: boolean;
}

/** Containers of a Docker engine on this host, each with the guest program as its first process. */
export class DockerBackend implements Backend {
  readonly name = "docker";
  readonly executionMode = "guest_socket";
  readonly capabilities: BackendCapabilities;
  readonly #home: string;
  readonly #idMap: IdMap;
  readonly #log: Log;
  readonly #env: NodeJS.ProcessEnv;
  readonly #images: EnvironmentImages;
  readonly #engines: UsableEngines;
  /** Folders of sandboxes that are being made. */
  readonly #starting = new Set<string>();

  constructor({ home, cache, idMap, log, env = process.env }: DockerBackendOptions) {
    // A user other than root has one id for a sandbox. So the files of its system belong to the same user as its commands.
    const guardedSystem = idMap.kind === "shifted";
    this.capabilities = {
      hostFolders: true,
      ociRuntime: true,
      liveSnapshots: false,
      guardedSystem,
      doors: true,
      remediation: true,
    };
    this.#home = home;
    this.#idMap = idMap;
    this.#log = log;
    this.#env = env;
    this.#images = new EnvironmentImages(cache, idMap.kind, log);
    const isNeeded = (directory: string) => existsSync(directory) || this.#starting.has(directory);
    this.#engines = new UsableEngines(env, (engine) => void removeOrphans(engine, home, isNeeded, log));
  }

  async probe(ociRuntime: string | undefined): Promise<BackendProbe> {
    const directory = await makeWorkFolder(this.#home, "probe");
    const id = `probe-${process.pid}-${Date.now().toString(36)}`;
    let limits: BackendProbe["limits"] = [];
    try {
      this.#engines.forgetAll(); // it may have been set up differently since
      const { engine, info } = await this.#engines.get(undefined, undefined);
      limits = engineLimits(info, ociRuntime);
      const wall = await this.start(emptySandbox(directory, id, ociRuntime), undefined);
      await wall.stop();
      return { available: true, detail: describeEngine(engine, info, ociRuntime), hint: null, limits };
    } catch (error) {
      return { ...unavailable(error, "See the engine's own log (journalctl -u docker)"), limits };
    } finally {
      await this.remove(id, directory).catch((error: unknown) =>
        this.#log.warn("cannot remove a probe", { id, reason: messageOf(error) }),
      );
    }
  }

  async prepare(rootfs: Rootfs, _limits: WallLimits, options: PrepareOptions): Promise<void> {
    const { engine } = await this.#engines.get(undefined, options.signal);
    this.#images.forget(engine, rootfs);
    await this.#images.ensure(engine, rootfs, options);
  }

  async start(asked: WallSpec, signal: AbortSignal | undefined): Promise<Wall> {
    const { directory, sandboxName, ociRuntime } = asked;
    // One that was stopped is in the engine that it was made in.
    const known = readEngineRecord(directory);
    const { engine, info } = await this.#engines.get(known?.address, signal);
    const spec = { ...asked, ociRuntime: ociRuntime && registeredRuntime(info, ociRuntime) };
    const name = containerName(this.#home, sandboxName);
    this.#starting.add(directory);
    try {
      await this.#images.ensure(engine, spec.rootfs, { signal, progress: spec.progress });
      this.#makeFolders(spec);
      writeEngineRecord(directory, { address: engine.endpoint.address, name });
      const isKnown = mountedFolders(directory) !== undefined;
      const folders = await makeCovers(spec);
      makeLinks(this.#links(name), spec, folders);
      const commandsApart = canSetCommandsApart(info, spec.ociRuntime);
      const container = await this.#container(engine, spec, { name, folders, isKnown, commandsApart }, signal);
      if (signal?.aborted) throw failure("CANCELLED", "Starting the container was cancelled");
      await engine.startContainer(container);
      return await this.#greet(engine, container, spec, signal);
    } catch (error) {
      if (isClocheError(error) && error.code === "BACKEND_UNAVAILABLE") {
        // It went away. What it may have made has our label, and is removed when it is back.
        this.#engines.forget(engine);
        if (!known) removeEngineRecord(directory);
      } else await engine.killContainer(name).catch(() => undefined); // the first failure is the one to tell
      throw isRefusal(error) ? refused("Cannot start the sandbox", error) : error;
    } finally {
      removeLinks(this.#links(name));
      this.#starting.delete(directory);
    }
  }

  adopt(directory: string, record: WallRecord): Promise<Wall | undefined> {
    const wall = new DockerWall(directory, record as DockerRecord);
    return Promise.resolve(wall.alive ? wall : undefined);
  }

  copyLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number> {
    return copyLayer(writableLayer(directory), target, this.#idMap, signal);
  }

  async halt(_sandboxName: string, directory: string): Promise<void> {
    const record = readEngineRecord(directory);
    if (!record) return;
    const { address, name, process } = record;
    const engine = DockerEngine.at(address, this.#env);
    if (process)
      await new DockerWall(directory, { kind: "docker", ...process, address, container: name }, { engine }).stop();
    else await engine.killContainer(name);
  }

  async requireRemovable(directory: string): Promise<void> {
    const record = readEngineRecord(directory);
    if (!record) return;
    await orRemoveFailure(record.name, DockerEngine.at(record.address, this.#env).ping());
  }

  async remove(sandboxName: string, directory: string, discard = removeTree): Promise<void> {
    const record = readEngineRecord(directory);
    await this.halt(sandboxName, directory);
    if (record) {
      const volumes = volumeNames(record.name, mountedFolders(directory) ?? []);
      await removeFromEngine(DockerEngine.at(record.address, this.#env), record.name, volumes);
    }
    removeLinks(this.#links(containerName(this.#home, sandboxName)));
    await discard(directory);
  }

  async findHomeless(): Promise<HomelessSandbox[]> {
    const usable = await this.#engines.get(undefined, undefined).catch(() => undefined);
    return usable ? await findHomelessContainers(usable.engine) : [];
  }

  /** Of the engine that is configured now; where none answers there is nothing to remove. */
  async prune(keep: PruneKeep): Promise<Removed[]> {
    const usable = await this.#engines.get(undefined, undefined).catch(() => undefined);
    return usable ? await this.#images.prune(usable.engine, keep) : [];
  }

  #links(name: string): string {
    return linksFolder(name, { home: this.#home, env: this.#env, isRoot: this.#idMap.kind === "shifted" });
  }

  #makeFolders({ directory }: WallSpec): void {
    makeWorkspaceLayer(directory, this.#idMap);
    makeOwned(socketFolder(directory), 0o700, this.#idMap.toHost(0, 0));
    // From an earlier start of the same workspace: they would be taken for this one's.
    for (const name of [GUEST_SOCKET, `${GUEST_SOCKET}.ready`])
      rmSync(join(socketFolder(directory), name), { force: true });
  }

  /** A new container, or the one that was stopped: it holds what the sandbox wrote outside of `/workspace`. */
  async #container(
    engine: DockerEngine,
    spec: WallSpec,
    { name, folders, isKnown, commandsApart }: ContainerChoices,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const labels = containerLabels(this.#home, spec.sandboxName, spec.directory);
    const image = this.#images.reference(spec.rootfs);
    const hostFolders = folders.map(({ target }) => target);
    const [idMap, links] = [this.#idMap, this.#links(name)];
    const body = containerConfig({ spec, idMap, image, name, labels, links, hostFolders, commandsApart });
    try {
      return await engine.createContainer(name, body);
    } catch (error) {
      if (isRefusal(error, 409)) {
        // SECURITY: what an older version has made has folders of the host in it as they are (G-02)
        if (isKnown || hostFolders.length === 0) return name;
        forgetFolders(spec.directory); // or the next try would take it for one of this version's
        throw outdated();
      }
      // Somebody has removed the image since it was imported.
      if (!isRefusal(error, 404) || !/no such image/i.test(error.message)) throw error;
      this.#images.forget(engine, spec.rootfs);
      await this.#images.ensure(engine, spec.rootfs, { signal, progress: spec.progress });
      return await engine.createContainer(name, body);
    }
  }

  async #greet(
    engine: DockerEngine,
    container: string,
    { sandboxName, directory, rootfs, ociRuntime }: WallSpec,
    signal: AbortSignal | undefined,
  ): Promise<Wall> {
    const socket = join(socketFolder(directory), GUEST_SOCKET);
    const [first, state] = await Promise.all([
      firstConnection(engine, container, socket, signal),
      engine.findContainer(container, signal),
    ]);
    const process = state && identifyProcess(state.State.Pid);
    if (!state || !process) {
      first.close();
      throw failure(
        "SANDBOX_START_FAILED",
        "Cannot start the sandbox: its first process is not to be seen on this host",
        {
          hint: "Run cloche beside the engine, in the same pid namespace",
        },
      );
    }
    const { address } = engine.endpoint;
    writeEngineRecord(directory, { address, name: containerName(this.#home, sandboxName), process });
    await restoreNameFiles(first, rootfs.root, ociRuntime);
    const record: DockerRecord = { kind: "docker", ...process, address, container: state.Id };
    return new DockerWall(directory, record, { engine, first });
  }
}

/** Volumes can only go after the container that mounts them. */
async function removeFromEngine(engine: DockerEngine, name: string, volumes: readonly string[]): Promise<void> {
  await orRemoveFailure(name, engine.removeContainer(name));
  for (const volume of volumes) await orRemoveFailure(name, engine.removeVolume(volume));
}

function outdated(): Error {
  return failure(
    "SANDBOX_START_FAILED",
    "Cannot start the sandbox: an older version of cloche has made its container",
    {
      hint: "Fork the workspace: the fork has its files, in a container of this version",
    },
  );
}

async function orRemoveFailure(name: string, call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    throw isRefusal(error) ? refused(`Cannot remove the container ${name}`, error) : error;
  }
}
