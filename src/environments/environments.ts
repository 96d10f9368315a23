import { removeIdleLocks, tryBuildLock } from "../walls/build-lock.ts";
import { ownAccountHome } from "./account-homes.ts";
import { type Builder, buildOnce } from "./build-once.ts";
import { changedDefinition, changedDigest, changeKey, unpackChanged } from "./changed.ts";
import type { BuildContext, EnvironmentDefinition, EnvironmentFamily } from "./definition.ts";
import { debianDefinitions } from "./debian.ts";
import { dockerImageFamily } from "./docker-image.ts";
import { dockerfileFamily } from "./dockerfile.ts";
import { EnvironmentCache, type Built } from "./environment-cache.ts";
import { createHostDefinition } from "./host.ts";
import type { HostFolders } from "./host-folders.ts";
import { machineFileFamily } from "./machine-file.ts";
import { isMountedAnywhere } from "./mounted-anywhere.ts";
import { Programs } from "./programs.ts";
import { hasCommand, withProgram } from "./with-program.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { type ClocheError, isClocheError } from "../base/errors.ts";
import type { IdMap } from "../base/id-map.ts";
import type { Log } from "../base/log.ts";
import {
  changedEnvironment,
  changedName,
  type Environments,
  layeredEnvironment,
  layeredName,
  type ProgramSource,
  type PrunedEnvironments,
  type PruneRequest,
  type Rootfs,
} from "../contracts/environment.ts";
import type { Environment, KeptItem } from "../model/environment.ts";
import { failure } from "../model/error-codes.ts";
import type { ReportProgress } from "../model/progress.ts";
import { homedir } from "node:os";

export interface EnvironmentsOptions {
  readonly cachePath: string;
  /** The cloche home, which no environment shows. */
  readonly home?: string;
  readonly idMap: IdMap;
  readonly log: Log;
  /** What can be built; the ones that come with cloche when not given. */
  readonly definitions?: readonly EnvironmentDefinition[];
  readonly families?: readonly EnvironmentFamily[];
  readonly clock?: Clock;
}

interface EnsureOptions {
  progress?: ReportProgress | undefined;
  signal?: AbortSignal | undefined;
  network?: boolean | undefined;
}

/**
 * SECURITY: run by a user, a sandbox keeps that user's groups, which the kernel does not let go of: what they alone may read would show. In `/opt`
 * such files are common, in `/usr` they are the distribution's own and few (G-01).
 */
const closedFolders = (idMap: IdMap): string[] => (idMap.kind === "single" ? ["/opt"] : []);

/** SECURITY: the user's home, by what the session says and by what the account does, and all that cloche keeps (G-01, G-02). */
const hiddenPlaces = ({ home, cachePath, idMap }: EnvironmentsOptions): string[] => [
  ...[homedir(), ...ownAccountHome(), cachePath, ...(home === undefined ? [] : [home])],
  ...closedFolders(idMap),
];

export function createEnvironments(options: EnvironmentsOptions): Environments {
  const { cachePath, idMap, log, clock = systemClock } = options;
  const definitions = options.definitions ?? [
    createHostDefinition({ hidden: hiddenPlaces(options) }),
    ...debianDefinitions(),
  ];
  const families =
    options.families ??
    (options.definitions ? [] : [dockerImageFamily(), dockerfileFamily(cachePath), machineFileFamily()]);
  const cache = new EnvironmentCache(cachePath, idMap.kind);
  const builder: Builder = { cache, idMap, log, clock };
  const programs = new Programs({ ...builder, cache: new EnvironmentCache(cachePath, idMap.kind, "programs") });

  const find = (name: string): EnvironmentDefinition | undefined => {
    const changed = changedName(name);
    const before = changed && find(changed.environment);
    if (changed) return before && changedDefinition(name, changed.key, before);
    const layered = layeredName(name);
    const base = layered && find(layered.environment);
    if (layered) return base && withProgram(name, { base, programs, program: layered.program, ensure });
    return (
      definitions.find((one) => one.name === name) ??
      families.find(({ prefix }) => name.startsWith(prefix) && name !== prefix)?.define(name)
    );
  };

  /** Those of the list, and those of a family that were built. */
  async function known(): Promise<EnvironmentDefinition[]> {
    const built = (await cache.names()).filter((name) => !definitions.some((one) => one.name === name));
    return [...definitions, ...built.flatMap((name) => find(name) ?? [])];
  }

  function get(name: string): EnvironmentDefinition {
    const definition = find(name);
    if (definition) return definition;
    const names = definitions.map((one) => one.name);
    throw failure("ENVIRONMENT_NOT_FOUND", `There is no environment "${name}"`, {
      hint: `Use one of: ${[...names, ...families.map(({ form }) => form)].join(", ")}`,
      details: { name, names },
    });
  }

  async function ensure(name: string, options: EnsureOptions): Promise<Rootfs> {
    const { progress = () => undefined, signal, network = false } = options;
    const definition = get(name);
    const digest = await definition.digest();
    const how = { progress, signal, network };
    const warm = await buildOnce(builder, definition, digest, how);
    return asRootfs(definition, { digest, root: warm.root });
  }

  async function describe(definition: EnvironmentDefinition): Promise<Environment> {
    const { name, description } = definition;
    const digest = await digestOrNothing(definition);
    const current = digest === undefined ? undefined : await cache.find(name, digest);
    const built = current ?? (await cache.all(name))[0];
    return {
      name,
      description,
      state: current ? "warm" : built ? "stale" : "cold",
      size_bytes: built?.size_bytes ?? null,
      built_at: built?.built_at ?? null,
      digest: built?.digest ?? null,
    };
  }

  /** Without packed machines whose file is gone: nothing of them is here, so nobody can use or miss them. */
  async function list(): Promise<Environment[]> {
    const isThere = async (one: EnvironmentDefinition) =>
      one.machineFile === undefined || (await digestOrNothing(one)) !== undefined;
    const shown = await Promise.all((await known()).map(async (one) => ((await isThere(one)) ? [describe(one)] : [])));
    return await Promise.all(shown.flat());
  }

  async function isBuilt(name: string): Promise<boolean> {
    return (await cache.find(name, await get(name).digest())) !== undefined;
  }

  async function obstacle(name: string): Promise<ClocheError | undefined> {
    const definition = get(name);
    try {
      if (!(await cache.find(name, await definition.digest()))) await definition.requireBuildable?.(idMap);
      return undefined;
    } catch (error) {
      if (isClocheError(error)) return error;
      throw error;
    }
  }

  async function prune({ inUse, names, dryRun, progress }: PruneRequest): Promise<PrunedEnvironments> {
    const asked = names && [...new Set(names)].map(get);
    const [removed, kept]: [PrunedEnvironments["removed"][number][], KeptItem[]] = [[], []];
    await cache.prepare();
    for (const { name } of asked ?? (await known())) {
      const lock = await tryBuildLock(cache.lockFile(name));
      try {
        if (lock) await cache.clean(name);
        const all = await cache.all(name);
        if (all.length === 0 && asked) kept.push({ name, reason: "it is not built" });
        for (const built of all) {
          const reason = lock ? await whyKept(built, inUse) : "somebody builds it right now";
          if (reason !== undefined) kept.push({ name, reason });
          else {
            progress?.({ step: `removing ${name}` });
            if (!dryRun) await cache.remove(built);
            removed.push({ name, size_bytes: built.size_bytes, digest: built.digest });
          }
        }
      } finally {
        await lock?.release();
      }
    }
    if (!dryRun) await removeIdleLocks(cache.folder);
    if (!asked) removed.push(...(await prunePrograms(inUse, dryRun)));
    return { removed, kept };
  }

  /** Programs that nothing stands on: what is built has their files. */
  async function prunePrograms(inUse: ReadonlySet<string>, dryRun: boolean): Promise<PrunedEnvironments["removed"]> {
    const names = [...inUse, ...(await cache.names())];
    const needed = new Set(names.flatMap((name) => layeredName(name)?.program ?? []));
    return await programs.prune(needed, dryRun);
  }

  async function addProgram(name: string, source: ProgramSource, options: EnsureOptions): Promise<string> {
    const { progress = () => undefined, signal } = options;
    // A packed machine is what it is.
    if (get(name).machineFile !== undefined) return name;
    // What an environment brings itself is what its makers wanted.
    if (!source.isOfHost && hasCommand((await ensure(name, options)).root, source.command)) return name;
    return layeredEnvironment(await programs.ensure(source, { progress, signal }), name);
  }

  async function addChange(
    name: string,
    reason: unknown,
    pack: (archive: string) => Promise<void>,
    { progress = () => undefined, signal }: EnsureOptions,
  ): Promise<string> {
    const key = changeKey(await get(name).digest(), reason);
    // Over what it was first: the change before this one is part of the archive.
    const changed = changedEnvironment(key, changedName(name)?.environment ?? name);
    const what = { name: changed, build: (context: BuildContext) => unpackChanged(context, pack) };
    await buildOnce(builder, what, changedDigest(key), { progress, signal });
    return changed;
  }

  /** Older builds of a name in use stay as well: a running sandbox may stand on one. */
  async function whyKept({ name, folder }: Built, inUse: ReadonlySet<string>): Promise<string | undefined> {
    if (inUse.has(name)) return "a workspace uses it";
    return (await isMountedAnywhere(folder)) ? "a sandbox of another installation stands on it" : undefined;
  }

  return {
    ensure,
    addProgram,
    addChange,
    isBuilt,
    prune,
    obstacle,
    digests: () => cache.digests(),
    list,
    requireDefined: get,
    inspect: async (name) => {
      const definition = get(name);
      const { packages } = definition;
      return {
        ...(await describe(definition)),
        host_paths: [...definition.hostFolders().shown],
        packages: [...packages],
      };
    },
  };
}

/** The folders of the host are looked for by whoever shows them, and by nobody else. */
function asRootfs(definition: EnvironmentDefinition, built: Pick<Rootfs, "digest" | "root">): Rootfs {
  const { name, machineFile } = definition;
  let found: HostFolders | undefined;
  const folders = () => (found ??= definition.hostFolders());
  return {
    name,
    ...built,
    machineFile,
    get hostPaths() {
      return folders().shown;
    },
    get coveredPaths() {
      return folders().covered;
    },
  };
}

/** An image that is gone, or an engine that is, makes a built environment stale and the list no shorter. */
async function digestOrNothing(definition: EnvironmentDefinition): Promise<string | undefined> {
  try {
    return await definition.digest();
  } catch (error) {
    if (isClocheError(error)) return undefined;
    throw error;
  }
}
