import { unifiedDiff } from "../policy/unified-diff.ts";
import { isTable } from "./config-document.ts";
import type { Host, Table } from "./host.ts";
import { formatEntry } from "./parse-document.ts";
import { INSTALLATION_VARIABLES, SERVER_NAME } from "./server-entry.ts";

/** From one form of our entry to another, as a patch of a file that has nothing else in it. */
export async function diffEntries(host: Host, from: Table | undefined, to: Table): Promise<string> {
  const text = (entry: Table) => formatEntry(host.format, host.table, SERVER_NAME, hideValues(entry));
  const path = `${host.table}.${SERVER_NAME}`;
  const patch = unifiedDiff({
    path,
    oldText: from ? withLineEnd(await text(from)) : "",
    newText: withLineEnd(await text(to)),
    oldMode: "100644",
    newMode: "100644",
  });
  return patch.slice(patch.indexOf("--- "));
}

const withLineEnd = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** A diff is shown and passed on; what else the user gave the server may be a key to something. */
function hideValues(entry: Table): Table {
  const shown: readonly string[] = INSTALLATION_VARIABLES;
  const hidden = (variables: Table) =>
    Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, shown.includes(name) ? value : "…"]));
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [
      key,
      (key === "env" || key === "environment") && isTable(value) ? hidden(value) : value,
    ]),
  );
}
