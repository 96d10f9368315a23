import { randomInt } from "node:crypto";
import { mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { workspaceDirectory } from "../base/paths.ts";
import { removeTree } from "../base/remove-tree.ts";
import type { Backend, Wall, WallSpec } from "../contracts/backend.ts";
import type { StoredSecret, StoredWorkspace } from "../contracts/store.ts";
import { GuestFiles } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import { AGENT, type ExecutionMode } from "../model/names.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { Dependencies } from "./dependencies.ts";
import { liveWorkspaceOf } from "./live-workspace-of.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { provisionSecrets, recoverSecrets } from "./sandbox-secrets.ts";
import type { Secrets } from "./secrets.ts";

export interface SandboxContext {
  readonly secrets: Secrets;
  readonly onLost: (reason: string) => void;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ReportProgress | undefined;
}

/** Each sandbox of a workspace has a folder and a name of its own, so that a reset can start the next before it lets the last one go. */
export const sandboxDirectory = (
  home: string,
  { workspaceId, generation }: Pick<StoredWorkspace, "workspaceId" | "generation">,
): string => join(workspaceDirectory(home, workspaceId), `g${generation}`);
export const sandboxName = ({ workspaceId, generation }: Pick<StoredWorkspace, "workspaceId" | "generation">): string =>
  `${workspaceId}-g${generation}`;

/** Starts the sandbox of a workspace as it is recorded, and provisions it. On failure nothing of it runs; its folder stays. */
export async function startSandbox(
  deps: Dependencies,
  stored: StoredWorkspace,
  context: SandboxContext,
): Promise<LiveWorkspace> {
  const directory = sandboxDirectory(deps.home, stored);
  const rootfs = await deps.environments.ensure(stored.environment, context);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const spec: WallSpec = {
    sandboxName: sandboxName(stored),
    directory,
    rootfs,
    baseline: stored.baseline,
    ...deps.layers.stack(stored.layers),
    hostname: stored.workspaceId,
    limits: stored.limits,
    ociRuntime: stored.ociRuntime ?? undefined,
    progress: context.progress,
  };
  const backend = getBackend(deps, stored.backend);
  const wall = await backend.start(spec, context.signal);
  const { executionMode } = backend;
  const secrets = await secretsFor(stored, context.secrets, {
    isLive: spec.machine !== undefined,
    wall,
    executionMode,
  });
  const live = liveWorkspaceOf(deps, stored, { wall, executionMode, secrets, onLost: context.onLost });
  try {
    await provisionSecrets(live);
    rememberAbsent(deps, stored, secrets);
    return live;
  } catch (error) {
    await live.close("it could not be provisioned");
    throw error;
  }
}

/** Random generations start here; no workspace is reset that often. What a killed daemon leaves of one goes with the other sandboxes of its workspace. */
const FIRST_LOOK = 1_000_000_000;

/** The files of a state of a workspace, in a sandbox in which nothing but the guest program runs, and that gets no secrets. */
export async function withLayers<Result>(
  deps: Dependencies,
  stored: StoredWorkspace,
  layers: readonly string[],
  look: (files: GuestFiles) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const one = { workspaceId: stored.workspaceId, generation: FIRST_LOOK + randomInt(FIRST_LOOK) };
  const directory = sandboxDirectory(deps.home, one);
  const backend = getBackend(deps, stored.backend);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const wall = await backend.start(
      {
        sandboxName: sandboxName(one),
        directory,
        rootfs: await deps.environments.ensure(stored.environment, { signal }),
        baseline: stored.baseline,
        ...deps.layers.stack(layers),
        hostname: stored.workspaceId,
        limits: stored.limits,
        ociRuntime: stored.ociRuntime ?? undefined,
      },
      signal,
    );
    const client = await wall.connect(signal);
    try {
      return await look(new GuestFiles(client, AGENT));
    } finally {
      client.close();
      await wall.stop({ discard: true });
    }
  } finally {
    await backend.remove(sandboxName(one), directory);
  }
}

/**
 * SECURITY: a machine that was saved alive has the secrets of then in its memory, also when no daemon knows them any more: they are redacted all the
 * same (G-17).
 */
async function secretsFor(
  stored: StoredWorkspace,
  known: Secrets,
  { isLive, ...sandbox }: { isLive: boolean; wall: Wall; executionMode: ExecutionMode },
): Promise<Secrets> {
  if (!isLive) return known;
  try {
    // What was saved may be older than the loss of a secret; on such a wall none but the guest program could have taken it away.
    return await recoverSecrets(stored, { ...sandbox, known, mayLack: () => true });
  } catch (error) {
    await sandbox.wall.stop({ discard: true });
    throw error;
  }
}

/** So that a later daemon can tell a secret that was lost from one that the sandbox has taken away. */
function rememberAbsent({ store }: Dependencies, { workspaceId, secrets }: StoredWorkspace, known: Secrets): void {
  const isAbsent = ({ name }: StoredSecret) => !known.values.has(name);
  if (secrets.every((one) => (one.absent === true) === isAbsent(one))) return;
  const now = secrets.map(({ name, source_kind, digest }) => ({
    name,
    source_kind,
    ...(digest !== undefined && { digest }),
    ...(!known.values.has(name) && { absent: true as const }),
  }));
  store.updateWorkspace(workspaceId, { secrets: now });
}

/** Ends whatever runs of a workspace's sandbox, known or not; its files stay. */
export async function haltSandbox(deps: Dependencies, stored: StoredWorkspace): Promise<void> {
  await getBackend(deps, stored.backend).halt(sandboxName(stored), sandboxDirectory(deps.home, stored));
}

/** Throws when one of a workspace's sandboxes cannot be removed now. */
export async function requireRemovable(deps: Dependencies, { workspaceId, backend }: StoredWorkspace): Promise<void> {
  for (const generation of generations(deps.home, workspaceId))
    await getBackend(deps, backend).requireRemovable?.(sandboxDirectory(deps.home, { workspaceId, generation }));
}

/** Removes every sandbox of a workspace but the one given, whatever state it is in; its gate and its folder too when none is. */
export async function removeSandboxes(deps: Dependencies, stored: StoredWorkspace, except?: number): Promise<void> {
  const backend = getBackend(deps, stored.backend);
  // Before the folder that it is in, and whatever state the workspace is in.
  if (except === undefined) await deps.gates.end(stored.workspaceId);
  for (const generation of generations(deps.home, stored.workspaceId)) {
    const one = { workspaceId: stored.workspaceId, generation };
    if (generation !== except)
      await backend.remove(sandboxName(one), sandboxDirectory(deps.home, one), (path) => deps.trash.take(path));
  }
  if (except === undefined) await removeFolder(workspaceDirectory(deps.home, stored.workspaceId));
}

/** Most often there is nothing left in it, which takes no program to remove. */
async function removeFolder(path: string): Promise<void> {
  try {
    rmdirSync(path);
  } catch {
    await removeTree(path);
  }
}

function generations(home: string, workspaceId: string): number[] {
  try {
    return readdirSync(workspaceDirectory(home, workspaceId)).flatMap((name) =>
      /^g\d+$/.test(name) ? [Number(name.slice(1))] : [],
    );
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

export function getBackend(deps: Pick<Dependencies, "backends">, name: string): Backend {
  const backend = deps.backends.get(name);
  if (backend) return backend;
  throw failure("BACKEND_NOT_FOUND", `There is no backend "${name}"`, {
    hint: `Use one of: ${[...deps.backends.keys()].join(", ")}`,
  });
}
