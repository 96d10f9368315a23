import type { Environment } from "./environment.ts";

export interface LimitHealth {
  name: "memory" | "pids" | "cpu" | "disk";
  holds: boolean;
  /** What enforces it, or why it does not hold. */
  detail: string;
}

export interface DefaultLimits {
  vcpu_count: number;
  mem_mib: number;
  pids: number;
}

export interface BackendHealth {
  name: string;
  available: boolean;
  /** What works ("namespaces, as root"), or why it does not. */
  detail: string;
  /** What to do about it when it does not work, or its default environment cannot be built; else null. */
  hint: string | null;
  limits: LimitHealth[];
  /** What a workspace may use when nobody says. */
  default_limits: DefaultLimits;
  /** What it can do beyond what every backend can. */
  capabilities: BackendCapabilityNames;
}

export interface BackendCapabilityNames {
  /** Walls off environments that show folders of the host. */
  host_folders: boolean;
  /** Takes an OCI runtime. */
  oci_runtime: boolean;
  /** Saves running machines with their processes. */
  live_snapshots: boolean;
  /** Starts packed machines. */
  machine_files: boolean;
  /** No command changes the environment's own files, not even for its own sandbox. */
  guarded_system: boolean;
  /** The environment of a run can be changed while it is at work. */
  remediation: boolean;
  /** Has gates, so that network policy `egress` can be had. */
  egress: boolean;
}

/** An agent that bottles can have, and its program. */
export interface AgentHealth {
  /** The provider's name, as in `agent_provider.template`. */
  name: string;
  /** Its command. */
  program: string;
  /** Where this host has it, for the environment `host`; null when it does not. */
  path: string | null;
  /** Of that; null when nobody knows. */
  version: string | null;
  /** What other environments get, as `PACKAGE@VERSION`; null when there is none for this processor. */
  package: string | null;
  /** How to install it on this host, where it is not. */
  hint: string | null;
}

export interface Health {
  /** Whether the default backend works. */
  healthy: boolean;
  /** The backend of a workspace whose creation names none. */
  default_backend: string;
  version: string;
  home: string;
  cache: string;
  backends: BackendHealth[];
  environments: Environment[];
  agents: AgentHealth[];
}

/** An address of MCP over HTTP that outlives daemons. */
export interface McpToken {
  url: string | null;
  /** Null after it was revoked. */
  token: string | null;
}

export interface DaemonStatus {
  running: boolean;
  pid: number | null;
  socket: string;
  version: string | null;
  /** Where this daemon serves MCP over HTTP. */
  mcp_url: string | null;
  /** What a client of it sends as bearer token; another one for each daemon. */
  mcp_token: string | null;
  started_at: number | null;
  workspace_count: number | null;
}
