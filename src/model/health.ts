import type { Environment } from "./environment.ts";

export interface LimitHealth {
  name: "memory" | "pids" | "cpu" | "disk";
  holds: boolean;
  /** What enforces it, or why it does not hold. */
  detail: string;
}

export interface BackendHealth {
  name: string;
  available: boolean;
  /** What works ("bubblewrap 0.8.0, as root"), or why it does not. */
  detail: string;
  /** What to do about it, when it does not work; else null. */
  hint: string | null;
  limits: LimitHealth[];
}

export interface Health {
  healthy: boolean;
  version: string;
  home: string;
  cache: string;
  backends: BackendHealth[];
  environments: Environment[];
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
