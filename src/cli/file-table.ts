import type { FileEntry } from "../model/files.ts";
import { formatBytes } from "./bytes.ts";
import { escapeName } from "./escape.ts";
import { formatTable } from "./table.ts";

export function formatFiles(entries: readonly FileEntry[], bold: (text: string) => string): string {
  const rows = entries.map((entry) => [
    entry.artifact_type,
    entry.artifact_type === "file" ? formatBytes(entry.size_bytes) : "-",
    escapeName(entry.path) + (entry.link_target === null ? "" : ` -> ${escapeName(entry.link_target)}`),
  ]);
  const [header = "", ...lines] = formatTable(["TYPE", "SIZE", "PATH"], rows);
  return [bold(header), ...lines].join("\n");
}
