import { failure } from "../model/error-codes.ts";
import type { HostChange } from "../model/host.ts";
import type { RefuseOptions } from "./compare-entry.ts";
import type { ConfigFile } from "./config-file.ts";
import type { Host } from "./host.ts";
import { wordsOf } from "./hosts.ts";
import type { Launcher, ServerEntry } from "./server-entry.ts";

/** What `connectHost` and `repairHost` are asked. */
export interface ChangeRequest {
  readonly launcher: Launcher;
  /** Of `cloche mcp serve`; undefined when none were given. */
  readonly options: readonly string[] | undefined;
  readonly refuse: RefuseOptions;
  /** The cloche home, for backups. */
  readonly home: string;
}

/** The answer; without a `diff` nothing was changed. */
export function describeChange(
  host: Host,
  file: ConfigFile,
  entry: ServerEntry,
  change: { readonly diff: string; readonly backup: string | null } | undefined,
): HostChange {
  return {
    host: host.name,
    config_path: file.path,
    changed: change !== undefined,
    backup_path: change?.backup ?? null,
    diff: change?.diff ?? null,
    command: wordsOf(entry),
  };
}

export const notInstalled = (host: Host, why: string) =>
  failure("HOST_NOT_INSTALLED", `${host.title} is not installed here: ${why}`, {
    hint: `Install ${host.title} first, or put in by hand what \`cloche host print-config ${host.name}\` prints`,
  });
