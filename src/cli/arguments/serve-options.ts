import { resolve } from "node:path";
import { MODE_NAMES, PROFILE_NAMES } from "../../mcp/profiles.ts";
import type { ServerOptions } from "../../mcp/server-options.ts";
import { resolveEnvironment } from "../../sdk/on-this-host.ts";
import { BACKEND } from "./common-options.ts";
import type { OptionSpec, OptionSpecs, Values } from "./option-spec.ts";

/** What `cloche mcp serve` takes, and `cloche host` passes on to it. */
export const SERVE_OPTIONS = {
  profile: {
    type: "string",
    value: "PROFILE",
    description: "How many tools there are (default: workspace-core)",
    choices: PROFILE_NAMES,
  },
  mode: {
    type: "string",
    value: "MODE",
    description: "Only the tools of one use case, described for it",
    choices: MODE_NAMES,
  },
  "project-path": {
    type: "string",
    value: "PATH",
    description: "Seed workspaces from this folder (default: the git checkout it is started in)",
    completes: "host-path",
  },
  "repo-url": { type: "string", value: "URL", description: "Seed workspaces from a clean clone of this repository" },
  "repo-ref": { type: "string", value: "REF", description: "The branch, tag or commit of --repo-url" },
  "no-project-source": { type: "boolean", description: "Seed workspaces from nothing unless asked" },
  environment: {
    type: "string",
    value: "ENVIRONMENT",
    description: "What is in a workspace's system (default: host)",
    completes: "environment",
  },
  backend: BACKEND,
  "output-dir": {
    type: "string",
    value: "FOLDER",
    description: "Where exports go (default: .cloche/exports in the project)",
    completes: "host-path",
  },
  "allow-read": {
    type: "string",
    value: "PATH",
    description: "Let seeds, pushes and files with secrets come from there too",
    multiple: true,
    completes: "host-path",
  },
  "allow-write": {
    type: "string",
    value: "PATH",
    description: "Let exports go there too",
    multiple: true,
    completes: "host-path",
  },
  "allow-environment": {
    type: "string",
    value: "ENVIRONMENT",
    description: "Let workspaces be made of it too; one that ends with * stands for all that begin so",
    multiple: true,
    completes: "environment",
  },
  "allow-ignored": {
    type: "string",
    value: "GLOB",
    description: "Let calls include what git ignores and this matches; a file with secrets only by its name",
    multiple: true,
  },
  "all-workspaces": { type: "boolean", description: "Let the tools reach every workspace, not only their own" },
} as const satisfies OptionSpecs;

/** The options as words again; undefined when none was given. Paths are made absolute: a host starts the server elsewhere. */
export function serveWords(values: Readonly<Record<string, unknown>>, cwd: string): string[] | undefined {
  const words = Object.entries<OptionSpec>(SERVE_OPTIONS).flatMap(([name, spec]) => {
    const value = values[name];
    if (value === true) return [`--${name}`];
    const given = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
    return given.flatMap((one) => [`--${name}`, absolute(spec, one, cwd)]);
  });
  return words.length > 0 ? words : undefined;
}

function absolute({ completes }: OptionSpec, value: string, cwd: string): string {
  if (completes === "host-path") return resolve(cwd, value);
  return completes === "environment" ? resolveEnvironment(value, cwd) : value;
}

/** The options as the server takes them. */
export function serverOptions(values: Values<typeof SERVE_OPTIONS>): ServerOptions {
  return {
    profile: values.profile,
    mode: values.mode,
    project_path: values["project-path"],
    repo_url: values["repo-url"],
    repo_ref: values["repo-ref"],
    no_project_source: values["no-project-source"],
    environment: values.environment,
    backend: values.backend,
    output_dir: values["output-dir"],
    allow_read: values["allow-read"],
    allow_write: values["allow-write"],
    allow_environment: values["allow-environment"],
    allow_ignored: values["allow-ignored"],
    all_workspaces: values["all-workspaces"],
  };
}
