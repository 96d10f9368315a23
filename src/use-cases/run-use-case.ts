import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { removeTree } from "../base/remove-tree.ts";
import { failure } from "../model/error-codes.ts";
import type { Cloche } from "../sdk/cloche.ts";
import { expectMatch } from "./expectation.ts";
import type { UseCase, UseCaseContext } from "./use-case.ts";

export interface StepReport {
  step: string;
  ok: boolean;
  duration_ms: number;
}

export interface UseCaseReport {
  scenario: string;
  title: string;
  profile: string;
  mode: string;
  ok: boolean;
  duration_ms: number;
  steps: StepReport[];
  /** The step that failed and what was expected of it. */
  error: string | null;
}

export interface RunUseCaseOptions {
  readonly client: Cloche;
  readonly environment: string;
  readonly backend: string;
  readonly signal: AbortSignal;
  readonly onStep: (report: StepReport) => void;
}

/** Should this process be killed, the daemon removes what it made after this time. */
const ABANDONED_AFTER_SECONDS = 900;

/** Walks one use case to its end or to its first failure. Never throws; leaves no workspace and no file. */
export async function runUseCase(useCase: UseCase, options: RunUseCaseOptions): Promise<UseCaseReport> {
  const started = performance.now();
  const steps: StepReport[] = [];
  const errors: string[] = [];
  const created: string[] = [];
  const folder = await realpath(await mkdtemp(join(tmpdir(), "cloche-use-case-")));
  const context = openContext(folder, options, created, (report) => {
    steps.push(report);
    options.onStep(report);
  });
  const attempt = async (body: () => Promise<void>) =>
    await body().catch((error: unknown) => errors.push(messageOf(error)));

  await attempt(() => useCase.run(context));
  const finished = errors.length === 0;
  await attempt(async () => {
    const left = await deleteLeft(options.client, created);
    if (finished) expectMatch("workspaces left behind", left, []);
  });
  await attempt(() => removeTree(folder));

  const { scenario, title, profile, mode } = useCase;
  const ok = errors.length === 0;
  const error = ok ? null : `${scenario}: ${errors.join("; then ")}`;
  return { scenario, title, profile, mode, ok, duration_ms: elapsed(started), steps, error };
}

function openContext(
  folder: string,
  options: RunUseCaseOptions,
  created: string[],
  onStep: (report: StepReport) => void,
): UseCaseContext {
  const { client, environment, backend, signal } = options;
  return {
    client,
    folder,
    signal,
    async seed(files) {
      const root = join(folder, "project");
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), text);
      }
      return root;
    },
    async create(more) {
      const asked = { ttl_seconds: ABANDONED_AFTER_SECONDS, grace_seconds: 0, ...more, environment, backend, signal };
      const workspace = await client.createWorkspace(asked);
      created.push(workspace.workspace_id);
      expectMatch("workspace", workspace, { state: "started", environment, backend, network_policy: "off" });
      return workspace;
    },
    async step(name, body) {
      const began = performance.now();
      try {
        if (signal.aborted) throw failure("CANCELLED", "Interrupted");
        const result = await body(expectMatch);
        onStep({ step: name, ok: true, duration_ms: elapsed(began) });
        return result;
      } catch (error) {
        onStep({ step: name, ok: false, duration_ms: elapsed(began) });
        throw new Error(`step "${name}": ${messageOf(error)}`, { cause: error });
      }
    },
  };
}

/** Deletes those of the workspaces that are still there, and says which they were. */
async function deleteLeft(client: Cloche, created: readonly string[]): Promise<string[]> {
  if (created.length === 0) return [];
  const present = new Set((await client.listWorkspaces()).workspaces.map((workspace) => workspace.workspace_id));
  const left = created.filter((id) => present.has(id));
  for (const id of left) await client.deleteWorkspace(id);
  return left;
}

const elapsed = (since: number): number => Math.round(performance.now() - since);
