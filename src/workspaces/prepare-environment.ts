import { failure } from "../model/error-codes.ts";
import { DEFAULTS } from "../model/config.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Prepared, PreparedStep } from "../model/prepared.ts";
import type { ReportProgress } from "../model/progress.ts";
import { chooseLimits, requireStated } from "./create-workspace.ts";
import type { Dependencies } from "./dependencies.ts";
import { execCommand } from "./exec-command.ts";
import { defaultEnvironment, requireCapabilities } from "./require-capabilities.ts";
import { getBackend } from "./sandbox.ts";
import type { Workspaces } from "./workspaces.ts";

/** Long enough for a trial, and short enough when the caller was killed in the middle of one. */
const TTL_SECONDS = 600;

/**
 * Makes everything that workspaces of an environment need on a backend, so that the first one is as quick as the next, and proves it by a workspace that
 * is created, used, reset and deleted.
 */
export async function prepareEnvironment(
  deps: Dependencies,
  workspaces: Workspaces,
  input: OperationInput<"prepare">,
  context: { signal?: AbortSignal | undefined; progress?: ReportProgress | undefined },
): Promise<Prepared> {
  const config = deps.config();
  const backend = getBackend(deps, input.backend ?? config.backend ?? DEFAULTS.backend);
  const name = input.environment ?? config.environment ?? defaultEnvironment(backend);
  requireStated({}, config, backend);
  const { oci_runtime: ociRuntime } = input;
  const steps: PreparedStep[] = [];
  const step = async <Result>(step: PreparedStep["step"], work: () => Promise<Result>): Promise<Result> => {
    context.signal?.throwIfAborted();
    context.progress?.({ step: WORDS[step] });
    const began = performance.now();
    const result = await work();
    steps.push({ step, duration_ms: Math.round(performance.now() - began) });
    return result;
  };
  const rootfs = await step("environment", () => deps.environments.ensure(name, context));
  requireCapabilities(backend, { rootfs, ociRuntime });
  await step("backend", async () => {
    const limits = await chooseLimits({}, config, backend, context);
    await backend.prepare?.(rootfs, limits, context);
  });
  const create = {
    environment: name,
    backend: backend.name,
    oci_runtime: ociRuntime,
    ttl_seconds: TTL_SECONDS,
    grace_seconds: 0,
  };
  const { workspace_id: id } = await step("create", () => workspaces.create(create, context));
  try {
    await step("exec", () => expectTrue(deps, workspaces, id, context.signal));
    await step("reset", () => workspaces.reset(id, undefined, context));
    await expectTrue(deps, workspaces, id, context.signal);
  } catch (error) {
    await workspaces.delete(id);
    throw error;
  }
  await step("delete", () => workspaces.delete(id));
  return { environment: rootfs.name, backend: backend.name, ready: true, steps };
}

const WORDS: Readonly<Record<PreparedStep["step"], string>> = {
  environment: "making the environment ready",
  backend: "making the backend ready for it",
  create: "creating a workspace",
  exec: "running a command in it",
  reset: "resetting it",
  delete: "deleting it",
};

async function expectTrue(
  deps: Dependencies,
  workspaces: Workspaces,
  id: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { exit_code: code, stderr } = await workspaces.act("execWorkspace", id, ({ live }) =>
    execCommand(deps, live, { command: ["true"] }, { ...(signal && { signal }) }),
  );
  if (code !== 0)
    throw failure("SANDBOX_START_FAILED", `A command that always works ended with code ${code}: ${stderr.trim()}`);
}
