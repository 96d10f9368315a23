import type { Shell } from "../../model/shell.ts";
import { formatAge } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable, type Layout } from "../output/table.ts";

const HEADER = ["SHELL", "STATE", "AGE", "SIZE", "FOLDER"] as const;

export function formatShells(shells: readonly Shell[], now: number, layout: Layout): string {
  const rows = shells.map((shell) =>
    [
      shell.shell_id,
      shell.exit_code === null ? shell.state : `${shell.state} ${shell.exit_code}`,
      shell.opened_at === null ? "-" : formatAge(now - shell.opened_at),
      `${shell.cols}x${shell.rows}`,
      shell.cwd,
    ].map(escapeName),
  );
  return formatTable(HEADER, rows, layout).join("\n");
}
