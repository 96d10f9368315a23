import { resolve } from "node:path";
import type { EgressInput } from "../model/egress.ts";
import type { OperationInput } from "../model/operations.ts";
import { tokenRefs } from "../model/token-refs.ts";
import type { ManifestOptions, PlanRunOptions } from "./options.ts";

type RunInput = OperationInput<"planRun">;
type CreateInput = OperationInput<"createWorkspace">;

/** An empty path is a variable that was not set, not the folder we happen to be in: the daemon refuses it. */
export const resolveHostPath = (path: string): string => path && resolve(path);

/** Environments that name a folder or a file of this host. */
const OF_THIS_HOST = ["dockerfile:", "smolmachine:"];

/** An environment that is made from something of this host names it from where the caller stands. */
export function resolveEnvironment(name: string, cwd = process.cwd()): string {
  const prefix = OF_THIS_HOST.find((one) => name.startsWith(one));
  const path = name.slice(prefix?.length);
  return prefix === undefined || path === "" ? name : `${prefix}${resolve(cwd, path)}`;
}

type Route = NonNullable<EgressInput["routes"]>[number];
type Auth = Extract<Route["auth"], readonly unknown[]>[number];

/**
 * A policy names files and programs of this host, from the folder that it is in. Nothing of it is checked here, and what has another shape than it should have stays as
 * it is.
 */
export function policyFrom(egress: EgressInput, folder = process.cwd()): EgressInput {
  const { routes } = egress;
  const isObject = (value: unknown) => typeof value === "object" && value !== null;
  const ofAuth = (auth: Auth): Auth => {
    if (!isObject(auth) || !Array.isArray(auth.token_command) || typeof auth.token_command[0] !== "string") return auth;
    const [program = "", ...words] = auth.token_command;
    return program.includes("/") ? { ...auth, token_command: [resolve(folder, program), ...words] } : auth;
  };
  const ofRoute = (route: Route): Route => {
    if (!isObject(route)) return route;
    const { ca, auth } = route;
    return {
      ...route,
      ...(typeof ca === "string" && { ca: resolve(folder, ca) }),
      ...(auth !== undefined && { auth: Array.isArray(auth) ? auth.map(ofAuth) : ofAuth(auth) }),
    };
  };
  return Array.isArray(routes) ? { ...egress, routes: routes.map(ofRoute) } : egress;
}

/** A policy with the variables that it takes tokens from, as far as they are set; what was given goes before. */
export function policyInput(
  egress: EgressInput,
  env: Readonly<Record<string, string | undefined>>,
  { egress_tokens: given }: Pick<CreateInput, "egress_tokens">,
): { egress: EgressInput; egress_tokens: Record<string, string> } {
  const set = tokenRefs(egress).flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { egress: policyFrom(egress), egress_tokens: { ...Object.fromEntries(set), ...given } };
}

/** Adds what only this side knows: its environment, and the folder that relative paths start from. */
export function onThisHost(input: CreateInput, env: Readonly<Record<string, string | undefined>>): CreateInput {
  return {
    ...input,
    backend: input.backend ?? (env["CLOCHE_BACKEND"] || undefined),
    oci_runtime: input.oci_runtime ?? (env["CLOCHE_OCI_RUNTIME"] || undefined),
    environment: input.environment && resolveEnvironment(input.environment),
    seed_path: input.seed_path && resolveHostPath(input.seed_path),
    ...(input.egress && policyInput(input.egress, env, input)),
    secrets: input.secrets?.map((secret) =>
      "file_path" in secret ? { ...secret, file_path: resolveHostPath(secret.file_path) } : secret,
    ),
  };
}

/** Where agents and bottles are looked for, from where the caller stands. */
export function manifestHere({
  project_path: project,
  manifest,
}: ManifestOptions): Pick<RunInput, "project_path" | "manifest"> {
  return {
    project_path: resolve(project ?? "."),
    ...(manifest && { manifest: { bottles: { ...manifest.bottles }, agents: { ...manifest.agents } } }),
  };
}

/** A run as the daemon is asked about it, with what only this side knows. */
export function runHere(
  agent: string,
  { project_path, manifest, ...options }: Omit<PlanRunOptions, "signal">,
  env: Readonly<Record<string, string | undefined>>,
): RunInput {
  return {
    ...options,
    ...manifestHere({ project_path, manifest }),
    agent,
    default_backend: env["CLOCHE_BACKEND"] || undefined,
    guest_skills_folder: env["CLOCHE_GUEST_SKILLS_DIR"] || undefined,
  };
}
