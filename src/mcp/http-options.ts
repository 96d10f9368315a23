import { isAbsolute } from "node:path";
import { failure } from "../model/error-codes.ts";
import type { ServerOptions } from "./server-options.ts";

const NAMES = [
  "profile",
  "mode",
  "project_path",
  "repo_url",
  "repo_ref",
  "environment",
  "backend",
  "output_dir",
] as const;
/** Those that may be given more than once. */
const LISTS = ["allow_read", "allow_write", "allow_environment", "allow_ignored"] as const;
const SWITCHES = ["all_workspaces"] as const;
const ALL: readonly string[] = [...NAMES, ...LISTS, ...SWITCHES];
/** There is no folder that relative ones could begin at. */
const PATHS: readonly string[] = ["output_dir", "allow_read", "allow_write"];

/**
 * What the operator of a client chooses in the address: `/mcp?profile=workspace-full`. It is configuration beside the token, and nothing that a model says
 * becomes part of it. `chooseParts` judges the values.
 */
export function optionsFrom(query: URLSearchParams): ServerOptions {
  for (const [name, value] of query) {
    if (!ALL.includes(name)) throw failure("USAGE", `There is no option "${name}"`, { hint: `Use ${ALL.join(", ")}` });
    if (PATHS.includes(name) && !isAbsolute(value)) {
      throw failure("USAGE", `The option ${name} is no absolute path`, { hint: "Give the whole path" });
    }
    if ((SWITCHES as readonly string[]).includes(name) && value !== "true" && value !== "false") {
      throw failure("USAGE", `The option ${name} is "${value}"`, { hint: "Use true or false" });
    }
  }
  const single = NAMES.map((name) => [name, query.get(name) ?? undefined] as const);
  const lists = LISTS.map((name) => [name, query.getAll(name)] as const);
  const switches = SWITCHES.map((name) => [name, query.get(name) === "true"] as const);
  return Object.fromEntries<unknown>([...single, ...lists, ...switches]);
}
