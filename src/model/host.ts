/** Programs that people talk to and that use cloche over MCP. */
export const HOSTS = ["claude-code", "codex", "cursor", "opencode"] as const;
export type HostName = (typeof HOSTS)[number];

/** Those with a command of their own that adds a server. */
export const CONNECTABLE_HOSTS = ["claude-code", "codex"] as const satisfies readonly HostName[];
export type ConnectableHost = (typeof CONNECTABLE_HOSTS)[number];

export type HostState = "connected" | "drifted" | "not_connected" | "unreadable";

/** What a host's tools reach of this machine, as its entry's options say. */
export interface HostAccess {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly environments: readonly string[];
  readonly workspaces: "own" | "all";
}

/** What `cloche host doctor` says about one host. */
export interface HostReport {
  readonly host: HostName;
  readonly title: string;
  /** Its program, its configuration or the folder of that is there. */
  readonly installed: boolean;
  /** The host's own command, where one was found. */
  readonly program: string | null;
  readonly config_path: string;
  readonly state: HostState;
  /** Of an entry that starts the server; else null. */
  readonly access: HostAccess | null;
  /** What is not as it should be. */
  readonly why: string | null;
  /** From the entry as it is to the entry as it should be. */
  readonly diff: string | null;
  /** What to do about it; null when there is nothing to do. */
  readonly next_step: string | null;
}

/** Whether the server that all hosts start answers. */
export interface ServerProbe {
  readonly answers: boolean;
  readonly detail: string;
}

/** What `connect` and `repair` did. */
export interface HostChange {
  readonly host: HostName;
  readonly config_path: string;
  readonly changed: boolean;
  /** The file as it was; null when there was none, or nothing changed. */
  readonly backup_path: string | null;
  readonly diff: string | null;
  /** What the host will start. */
  readonly command: readonly string[];
}

/** What `print-config` prints. */
export interface HostConfig {
  readonly host: HostName;
  readonly config_path: string;
  readonly config_format: "json" | "toml";
  readonly config: string;
  /** The host's own command that does the same. */
  readonly add_command: readonly string[] | null;
  readonly command: readonly string[];
}
