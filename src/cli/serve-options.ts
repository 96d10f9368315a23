import { resolve } from "node:path";
import { MODE_NAMES, PROFILE_NAMES } from "../mcp/profiles.ts";
import { BACKEND } from "./common-options.ts";
import type { OptionSpecs } from "./option-spec.ts";

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
} as const satisfies OptionSpecs;

/** The options as words again; undefined when none was given. Paths are made absolute: a host starts the server elsewhere. */
export function serveWords(values: Readonly<Record<string, unknown>>, cwd: string): string[] | undefined {
  const words = Object.keys(SERVE_OPTIONS).flatMap((name) => {
    const value = values[name];
    if (value === true) return [`--${name}`];
    if (typeof value !== "string") return [];
    return [`--${name}`, name === "project-path" ? resolve(cwd, value) : value];
  });
  return words.length > 0 ? words : undefined;
}
