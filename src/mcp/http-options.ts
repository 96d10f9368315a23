import { failure } from "../model/error-codes.ts";
import type { ServerOptions } from "./server-options.ts";

const NAMES = ["profile", "mode", "project_path", "repo_url", "repo_ref", "environment", "backend"] as const;

/** What a client of the endpoint chooses in the address: `/mcp?profile=workspace-full`. `chooseParts` judges the values. */
export function optionsFrom(query: URLSearchParams): ServerOptions {
  const unknown = [...query.keys()].find((name) => !(NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw failure("USAGE", `There is no option "${unknown}"`, { hint: `Use ${NAMES.join(", ")}` });
  }
  const given = NAMES.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}
