import type { ConfigDocument } from "./config-document.ts";
import type { Host, Table } from "./host.ts";

/** The parsers are packages; only a command about hosts loads one. Throws `BadSyntax`. */
export async function parseDocument(format: Host["format"], text: string): Promise<ConfigDocument> {
  if (format === "toml") return (await import("./toml-document.ts")).parseToml(text);
  return (await import("./json-document.ts")).parseJson(text, { comments: format === "jsonc" });
}

/** One entry as a file of its own. */
export async function formatEntry(format: Host["format"], table: string, name: string, entry: Table): Promise<string> {
  return (await parseDocument(format, format === "toml" ? "" : "{}")).set(table, name, entry);
}
