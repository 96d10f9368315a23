import { randomBytes, randomUUID } from "node:crypto";
import type { BottlePlan, BottleSpec } from "../model/bottle-plan.ts";
import { DEFAULTS } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import { chooseProvider } from "../policy/bottles/choose-provider.ts";
import { type MergedBottle, mergeBottles } from "../policy/bottles/merge-bottles.ts";
import { planBottle } from "../policy/bottles/plan-bottle.ts";
import { requireFit } from "../policy/bottles/provider-answers.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { canChangeEnvironment, defaultEnvironment } from "../workspaces/require-capabilities.ts";
import { getBackend } from "../workspaces/sandbox.ts";
import { findProvider } from "./find-provider.ts";
import type { FoundAgent, Manifest } from "./manifest.ts";
import { bottlesFolder, manifestFiles } from "./manifest-files.ts";
import { objectManifest } from "./object-manifest.ts";
import { withPlacedFiles } from "./placed-files.ts";
import { RunStates } from "./run-states.ts";
import { signingNotes } from "./signing-notes.ts";

export type RunRequest = OperationInput<"planRun">;
type PlanDependencies = Pick<Dependencies, "home" | "backends" | "config">;

/** The doors that this version serves, beside the one for egress. */
const SERVED = { git: true } as const;

/** What a run keeps over its starts, so that the agent finds its conversation and its stand-ins again. */
export interface RunMemory {
  readonly session: { readonly id: string; readonly resume: boolean };
  /** By variable of the sandbox; one that is not there is made. */
  readonly standIns: Readonly<Record<string, string>>;
}

export const freshMemory = (): RunMemory => ({ session: { id: randomUUID(), resume: false }, standIns: {} });

/** Of files, or of the object that was given in their place. */
export const openManifest = (
  home: string,
  { manifest, project_path: project }: Pick<RunRequest, "manifest" | "project_path">,
): Manifest => (manifest ? objectManifest(manifest) : manifestFiles(home, project));

export interface ChosenBottle {
  readonly agent: FoundAgent;
  readonly names: readonly string[];
  readonly merged: MergedBottle;
}

/** The agent, and the bottle that it works in. */
export function chooseBottle(manifest: Manifest, name: string, instead: readonly string[] = []): ChosenBottle {
  const agent = manifest.agent(name);
  const names = instead.length > 0 ? [...instead] : [agent.definition.bottle ?? []].flat();
  if (names.length === 0) {
    throw failure("MANIFEST_INVALID", `Agent "${name}" names no bottle`, {
      hint: "Add `bottle: NAME` to its file, or give --bottle",
    });
  }
  return { agent, names, merged: mergeBottles(names, (bottle, child) => manifest.bottle(bottle, child)) };
}

/** All that starting it would do. Reads the manifest, and makes nothing. */
export async function planRun(
  deps: PlanDependencies,
  request: RunRequest,
  memory: RunMemory = freshMemory(),
): Promise<BottlePlan> {
  return (await planWithBottle(deps, request, memory)).plan;
}

/** The same with the bottle that it comes from, for who asks where things come from. */
export async function planWithBottle(
  deps: PlanDependencies,
  request: RunRequest,
  memory: RunMemory = freshMemory(),
): Promise<ChosenBottle & { readonly plan: BottlePlan }> {
  const manifest = openManifest(deps.home, request);
  const found = chooseBottle(manifest, request.agent, request.bottles);
  const folder = request.manifest ? request.project_path : bottlesFolder(deps.home);
  const chosen = { ...found, merged: withPlacedFiles(found.merged, folder) };
  const { agent, names, merged } = chosen;
  const { definition, prompt, source, path } = agent;
  const { template, choice } = chooseProvider(merged.bottle.agent_provider, {
    ...agent,
    provider: definition.provider,
  });
  const provider = await findProvider(deps.home, template);
  requireFit(provider, choice, merged.sources["agent_provider"] ?? names.join(", "));
  const config = deps.config();
  const from = request.from === undefined ? undefined : new RunStates(deps.home).read(request.from);
  if (from && request.backend !== undefined && request.backend !== from.backend)
    throw failure("INVALID_ARGUMENT", `Run "${from.identity}" was committed on the backend "${from.backend}"`, {
      hint: "Leave --backend out, or start it without --from",
    });
  const backend = getBackend(
    deps,
    from?.backend ??
      request.backend ??
      merged.bottle.backend ??
      request.default_backend ??
      config.backend ??
      DEFAULTS.backend,
  );
  requireNoDiskLimit(merged, backend.name);
  const environment =
    from?.environment ?? merged.bottle.environment ?? config.environment ?? defaultEnvironment(backend);
  const plan = planBottle({
    spec: specOf(request),
    agent: { name: agent.name, source, path, prompt, skills: [...new Set(definition.skills)] },
    definition,
    bottleNames: names,
    merged,
    provider,
    choice,
    backend: backend.name,
    environment,
    session: memory.session,
    standIn: (variable) => memory.standIns[variable] ?? newStandIn(),
    guestSkillsFolder: request.guest_skills_folder ?? null,
    served: SERVED,
    canChangeEnvironment: canChangeEnvironment(backend, environment),
    notes: [
      ...manifest.notes(agent.name),
      // SECURITY: whoever starts a run sees that it begins with what another agent has left (G-147)
      ...(from
        ? [
            `It begins with what ${from.identity} has left in /workspace and in its home, and that gets this run's access.`,
          ]
        : []),
      ...(await signingNotes(merged.bottle.git, request.project_path)),
    ],
  });
  return { ...chosen, plan };
}

/** What no backend can keep is told before anything is made, and by the name of the file that says it. */
function requireNoDiskLimit({ bottle, sources }: ChosenBottle["merged"], backend: string): void {
  if (bottle.limits?.disk_mib === undefined) return;
  const name = sources["limits.disk_mib"] ?? "";
  throw failure(
    "LIMIT_UNSUPPORTED",
    `Bottle "${name}" has "limits.disk_mib", and the backend "${backend}" cannot limit the disk`,
    {
      hint: `Remove "disk_mib" from "limits" of the bottle "${name}"`,
    },
  );
}

function specOf(request: RunRequest): BottleSpec {
  return {
    agent_name: request.agent,
    bottle_names: request.bottles ?? [],
    backend: request.backend ?? null,
    project_path: request.project_path,
    copy_cwd: request.copy_cwd ?? false,
    headless: request.headless ?? false,
    prompt: request.prompt ?? null,
    label: request.label ?? null,
    color: request.color ?? null,
  };
}

/** Long and random, so that it is found wherever it turns up; of no vendor's form, so that no detector takes it for a real one. */
const newStandIn = (): string => `cloche-stand-in-${randomBytes(24).toString("hex")}`;
