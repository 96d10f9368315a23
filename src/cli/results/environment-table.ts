import type { Environment } from "../../model/environment.ts";
import { formatBytes } from "../output/bytes.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable, type Layout } from "../output/table.ts";

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
