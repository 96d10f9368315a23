import { existsSync } from "node:fs";
import { sameValue } from "./config-document.ts";
import { isExecutable } from "./find-program.ts";
import type { Host, Table } from "./host.ts";
import {
  canonicalEntry,
  INSTALLATION_VARIABLES,
  serveOptions,
  type Launcher,
  type ServerEntry,
} from "./server-entry.ts";

/** Why `cloche mcp serve` would not take these options; undefined when it would. */
export type RefuseOptions = (options: readonly string[]) => string | undefined;

export interface Comparison {
  /** The entry as it should be. The options it had, and what else the user put into it, are kept where they make sense. */
  readonly wanted: Table;
  /** What is not as it should be; undefined when nothing is. */
  readonly why: string | undefined;
}

/** An entry that is there beside the one that should be. `options` are those asked for now; undefined to keep what it has. */
export function compareEntry(
  host: Host,
  table: Table,
  { launcher, options, refuse }: { launcher: Launcher; options: readonly string[] | undefined; refuse: RefuseOptions },
): Comparison {
  const entry = host.read(table);
  const canonical = canonicalEntry(launcher, options);
  if (!entry) return { wanted: host.write(canonical), why: "It is not a command to start" };
  const had = serveOptions(entry);
  const kept = options ?? (had && refuse(had) === undefined ? had : []);
  const wanted: ServerEntry = {
    // Any Node that is still installed will do: with several versions, each change of version would else look like drift.
    command: startsThisProgram(entry, launcher) ? entry.command : launcher.node,
    args: canonicalEntry(launcher, kept).args,
    env: { ...userVariables(entry), ...canonical.env },
  };
  return {
    wanted: { ...additions(table), ...host.write(wanted) },
    why: whyDrifted(host, table, { entry, wanted, launcher, had, refuse }),
  };
}

function whyDrifted(
  host: Host,
  table: Table,
  at: {
    entry: ServerEntry;
    wanted: ServerEntry;
    launcher: Launcher;
    had: readonly string[] | undefined;
    refuse: RefuseOptions;
  },
): string | undefined {
  const { entry, wanted, launcher, had, refuse } = at;
  if (had === undefined) return "It does not start `cloche mcp serve`";
  const missing = [entry.command, entry.args[0] ?? ""].find((path) => path.startsWith("/") && !existsSync(path));
  if (missing !== undefined) return `It starts "${missing}", which is not there`;
  if (!startsThisProgram(entry, launcher)) return `It starts another program than "${launcher.program}"`;
  const refusal = refuse(had);
  if (refusal !== undefined) return refusal;
  if (!sameValue(entry.args, wanted.args)) return "It has other options than those asked for";
  const variable = INSTALLATION_VARIABLES.find((name) => entry.env[name] !== wanted.env[name]);
  if (variable !== undefined) return `It has another ${variable} than this shell`;
  return host.isOff(table) ? `It is switched off in ${host.title}` : undefined;
}

const startsThisProgram = (entry: ServerEntry, { program }: Launcher): boolean =>
  isExecutable(entry.command) && entry.args[0] === program && entry.args[1] === "mcp";

function userVariables({ env }: ServerEntry): Record<string, string> {
  const ours: readonly string[] = INSTALLATION_VARIABLES;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.includes(name)));
}

/** What the user added to the entry stays; a switch that is off does not, and the variables are merged elsewhere. */
const additions = (table: Table): Table =>
  Object.fromEntries(
    Object.entries(table).filter(
      ([key, value]) => !["env", "environment"].includes(key) && !(key === "enabled" && value === false),
    ),
  );
