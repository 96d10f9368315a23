import type { FileEntry } from "../../model/files.ts";
import { formatBytes } from "../output/bytes.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable, type Layout } from "../output/table.ts";

export function formatFiles(entries: readonly FileEntry[], layout: Layout): string {
  const rows = entries.map((entry) => [
    entry.artifact_type,
    entry.artifact_type === "file" ? formatBytes(entry.size_bytes) : "-",
    escapeName(entry.path) + (entry.link_target === null ? "" : ` -> ${escapeName(entry.link_target)}`),
  ]);
  return formatTable(["TYPE", "SIZE", "PATH"], rows, layout).join("\n");
}
