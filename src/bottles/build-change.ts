import { createWriteStream } from "node:fs";
import { constants } from "node:os";
import { pipeline } from "node:stream/promises";
import { messageOf } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { AGENT } from "../model/names.ts";
import type { RunMetadata } from "../model/run.ts";
import {
  CLEAN_COMMAND,
  type EnvironmentChange,
  installCommand,
  PACK_COMMAND,
  stepCommand,
} from "../policy/bottles/change-script.ts";
import { newWorkspaceId } from "../workspaces/create-workspace.ts";
import { inheritNetwork, type NetworkChoice } from "../workspaces/egress.ts";
import { exitCodeOf, processLimit } from "../workspaces/exec-command.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { roomFor } from "../workspaces/room.ts";
import { sandboxEnvironment } from "../workspaces/sandbox-environment.ts";
import type { CallContext } from "../workspaces/verb.ts";
import type { RunParts } from "./run-parts.ts";

const STEP_MS = 30 * 60_000;
const KEPT_BYTES = 16 * 1024;
const SHOWN_LINES = 12;
const ROOT = { uid: 0, gid: 0 };

/** By which a builder is known, also when the daemon that made it is gone. */
const BUILD_KEY = "build/";
export const isBuilder = ({ idempotencyKey: key }: Pick<StoredWorkspace, "idempotencyKey">): boolean =>
  key?.startsWith(BUILD_KEY) === true;

/** What a builder has of the run that it is for. */
export interface BuilderKit {
  readonly backend: string;
  readonly network: NetworkChoice;
  /** What must not leave. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
  readonly limits: StoredWorkspace["limits"];
}

/** Of a run at work. SECURITY: what builds an environment gets out by the policy of the run that it is for, and what must not leave that one does not leave here either (G-108) */
export const kitOf = (
  { deps }: Pick<RunParts, "deps">,
  stored: StoredWorkspace,
  live: Pick<LiveWorkspace, "secrets">,
): BuilderKit => ({
  backend: stored.backend,
  network: inheritNetwork(deps, stored.backend, "egress", stored),
  secrets: [...live.secrets.values].map(([name, value]) => ({ name, value })),
  limits: stored.limits,
});

/** Ends builders of a daemon that was killed. Never rejects. */
export async function removeBuilders({ deps, workspaces }: Pick<RunParts, "deps" | "workspaces">): Promise<void> {
  for (const { workspaceId } of deps.store.listWorkspaces().filter(isBuilder))
    await workspaces.delete(workspaceId).catch((error: unknown) => {
      deps.log.warn("cannot remove a builder", { workspaceId, reason: messageOf(error) });
    });
}

/**
 * The environment that a run has, with a change: its name. The change is made in a sandbox of its own, behind the same wall and on the same backend as the run's, which
 * reaches what the run's may reach and no more. The run is not touched.
 */
export async function buildChange(
  parts: RunParts,
  run: Pick<RunMetadata, "identity" | "environment">,
  kit: BuilderKit,
  change: EnvironmentChange,
  context: CallContext,
): Promise<string> {
  const { deps } = parts;
  // Of this run alone: what another run's policy let in is no part of it.
  const reason = [run.identity, change.packages, change.steps];
  return await deps.environments.addChange(
    run.environment,
    reason,
    (archive) => inBuilder(parts, run, kit, context, (live) => makeChange(live, change, archive, context)),
    context,
  );
}

async function inBuilder(
  { workspaces }: RunParts,
  { identity, environment }: Pick<RunMetadata, "identity" | "environment">,
  { backend, network, secrets, limits }: BuilderKit,
  { signal, progress }: CallContext,
  work: (live: LiveWorkspace) => Promise<void>,
): Promise<void> {
  const workspaceId = newWorkspaceId();
  await workspaces.create(
    {
      environment,
      backend,
      name: `${identity}-build`,
      secrets: [...secrets],
      vcpu_count: limits.vcpuCount,
      mem_mib: limits.memMib,
      idempotency_key: `${BUILD_KEY}${workspaceId}`,
    },
    { signal, progress, run: { workspaceId, egress: network, limits: {} } },
  );
  try {
    await work(await workspaces.act("listShells", workspaceId, (made) => made.live));
  } finally {
    await workspaces.delete(workspaceId);
  }
}

async function makeChange(
  live: LiveWorkspace,
  { packages, steps }: EnvironmentChange,
  archive: string,
  { signal, progress }: CallContext,
): Promise<void> {
  if (packages.length > 0) {
    progress({ step: `installing ${packages.join(", ")}` });
    await runAsRoot(live, installCommand(packages), `The packages ${packages.join(", ")} cannot be installed`, signal);
  }
  for (const [index, step] of steps.entries()) {
    progress({ step: `step ${index + 1} of ${steps.length}` });
    await runAsRoot(live, stepCommand(step), `Step ${index + 1} failed`, signal);
  }
  await runAsRoot(live, CLEAN_COMMAND, "What the steps have left cannot be removed", signal);
  progress({ step: "packing the environment" });
  await pack(live, archive, signal);
}

async function start(live: LiveWorkspace, argv: readonly string[], signal: AbortSignal) {
  const guest = await live.guest();
  // SECURITY: the root of a sandbox without any capability: it changes files of the system, and nothing of the wall (G-108)
  const process = guest.spawn({
    argv: [...argv],
    env: { ...sandboxEnvironment(live, { DEBIAN_FRONTEND: "noninteractive" }, false), HOME: "/root", USER: "root" },
    cwd: "/",
    user: guest.hello.canChangeUser ? ROOT : AGENT,
    timeoutMs: STEP_MS,
    rlimits: processLimit(live),
  });
  const stopListening = onAbort(signal, () => process.signal(constants.signals.SIGKILL, "tree"));
  void process.exit.catch(() => undefined).finally(stopListening);
  return process;
}

async function runAsRoot(
  live: LiveWorkspace,
  argv: readonly string[],
  failed: string,
  signal: AbortSignal,
): Promise<void> {
  const process = await start(live, argv, signal);
  let said = Buffer.alloc(0);
  for await (const { data } of process.output()) said = Buffer.concat([said, data]).subarray(-KEPT_BYTES);
  requireGood(await process.exit, failed, live.secrets.redactor.text(said.toString("utf8")), signal);
}

async function pack(live: LiveWorkspace, archive: string, signal: AbortSignal): Promise<void> {
  const process = await start(live, PACK_COMMAND, signal);
  let complaints = "";
  const room = roomFor(archive) ?? Infinity;
  const bytes = async function* () {
    let size = 0;
    for await (const { channel, data } of process.output()) {
      if (channel === "stderr") {
        complaints = `${complaints}${data.toString("utf8")}`.slice(-KEPT_BYTES);
        continue;
      }
      size += data.length;
      if (size > room) throw failure("DISK_FULL", "Cannot keep the changed environment: no space is left");
      yield data;
    }
  };
  try {
    await pipeline(bytes, createWriteStream(archive, { mode: 0o600, flags: "wx" }), { signal });
  } finally {
    process.signal(constants.signals.SIGKILL, "tree");
  }
  requireGood(await process.exit, "The changed environment cannot be packed", complaints, signal);
}

function requireGood(exit: Parameters<typeof exitCodeOf>[0], failed: string, said: string, signal: AbortSignal): void {
  signal.throwIfAborted();
  const code = exitCodeOf(exit);
  if (code === 0) return;
  const last = said.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  const why = exit.timedOut ? "it took longer than 30 minutes" : `exit code ${code}`;
  throw failure("ENVIRONMENT_BUILD_FAILED", `${failed}: ${why}${last === "" ? "" : `; its last output:\n${last}`}`, {
    hint: "Nothing has changed. What it needs from a host has to be in the egress policy of the run; then approve it again",
  });
}
