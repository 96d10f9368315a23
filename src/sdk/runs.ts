import { join, resolve } from "node:path";
import type { OperationInput } from "../model/operations.ts";
import { resolveHostPath, runHere } from "./on-this-host.ts";
import type { ApplyRunOptions, LaunchOptions, ResumeRunOptions, StartRunOptions } from "./options.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What a launch takes, with what only this side knows: where the user's skills and programs are. */
function launchHere({ variables, answers, skills_path: given, search_path: path, terminal }: LaunchOptions, env: Env) {
  const search_path = path ?? env["PATH"];
  const folder = env["CLOCHE_SKILLS_DIR"];
  const home = env["HOME"];
  const skills = given ?? (folder || (home && join(home, ".claude", "skills")));
  return {
    variables,
    answers,
    terminal,
    ...(skills && { skills_path: resolve(skills) }),
    ...(search_path !== undefined && { search_path }),
  };
}

export function startRunInput(
  agent: string,
  { variables, answers, skills_path, search_path, terminal, ...asked }: Omit<StartRunOptions, "signal" | "onProgress">,
  env: Env,
): OperationInput<"startRun"> {
  const given = { variables, answers, skills_path, search_path, terminal };
  return { ...runHere(agent, asked, env), ...launchHere(given, env) };
}

export function resumeRunInput(identity: string, options: ResumeRunOptions, env: Env): OperationInput<"resumeRun"> {
  return { identity, ...resumeHere(options, env), ...launchHere(options, env) };
}

export function resumeHere(
  { headless, prompt, manifest }: ResumeRunOptions,
  env: Env,
): Omit<OperationInput<"planResume">, "identity"> {
  return {
    headless,
    prompt,
    ...(manifest && { manifest: { bottles: { ...manifest.bottles }, agents: { ...manifest.agents } } }),
    guest_skills_folder: env["CLOCHE_GUEST_SKILLS_DIR"] || undefined,
  };
}

export function applyHere(
  identity: string,
  { project_path: project, output_path: output, as, path, branch, message, dry_run, plan_digest }: ApplyRunOptions,
): OperationInput<"applyRun"> {
  return {
    identity,
    as,
    path,
    branch,
    message,
    plan_digest,
    dry_run,
    project_path: project && resolveHostPath(project),
    output_path: output && resolveHostPath(output),
  };
}
