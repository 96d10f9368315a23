import type { Environment } from "../model/environment.ts";
import { formatBytes } from "./bytes.ts";
import { formatTime } from "./duration.ts";
import { escapeName } from "./escape.ts";
import { formatTable, type Layout } from "./table.ts";

/** The header and a line for each environment. */
export function formatEnvironments(environments: readonly Environment[], layout: Layout): string[] {
  const rows = environments.map((environment) => [
    escapeName(environment.name),
    environment.state,
    environment.size_bytes === null ? "-" : formatBytes(environment.size_bytes),
    environment.built_at === null ? "-" : formatTime(environment.built_at),
    escapeName(environment.description),
  ]);
  return formatTable(["NAME", "STATE", "SIZE", "BUILT", "DESCRIPTION"], rows, layout);
}
