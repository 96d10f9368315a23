import type { HostName } from "../model/host.ts";
import type { Environment, ServerEntry } from "./server-entry.ts";

/** A table, as it stands in a host's file. */
export type Table = Readonly<Record<string, unknown>>;

/** All that is to know about one host. */
export interface Host {
  readonly name: HostName;
  /** As its makers write it. */
  readonly title: string;
  /** Its own command: on the PATH when it is installed. */
  readonly program: string;
  /** Where it keeps the servers of all projects. */
  configPath(env: Environment, exists: (path: string) => boolean): string;
  /** `json` is what `JSON.parse` takes, `jsonc` has comments and commas at the end. */
  readonly format: "json" | "jsonc" | "toml";
  /** The table in that file that has a server's name as its key. */
  readonly table: string;
  /** The entry in the host's form, without what may be left out. */
  write(entry: ServerEntry): Table;
  /** The host's form as an entry; undefined for another kind of server. What is missing is empty. */
  read(table: Table): ServerEntry | undefined;
  /** Why the host would not start the server although it is there. */
  isOff(table: Table): boolean;
  /** The words after its own command that add a server. */
  readonly addCommand?: (name: string, entry: ServerEntry) => readonly string[];
}
