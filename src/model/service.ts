import { z } from "zod";
import type { Command } from "./exec.ts";

const port = z.number().int().min(1).max(65_535);

/** When a service counts as ready. Paths are under `/workspace`; ports and URLs are the sandbox's own loopback. */
export const Readiness = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("file"), path: z.string().min(1).max(4096) }),
  z.strictObject({ type: z.literal("tcp"), port }),
  z.strictObject({ type: z.literal("http"), url: z.string().min(1).max(4096) }),
  z.strictObject({ type: z.literal("command"), command: z.union([z.string().min(1), z.array(z.string()).min(1)]) }),
]);
export type Readiness = z.infer<typeof Readiness>;

/** `host_port` 0, or none: one that is free. */
export const PublishedPort = z.strictObject({
  guest_port: port,
  host_port: z.number().int().min(0).max(65_535).optional(),
});
export type PublishedPort = z.infer<typeof PublishedPort>;

export type ServiceState = "starting" | "running" | "exited" | "failed" | "stopped";

export interface Service {
  workspace_id: string;
  service_name: string;
  state: ServiceState;
  command: Command;
  cwd: string;
  readiness: Readiness | null;
  started_at: number;
  ready_at: number | null;
  ended_at: number | null;
  exit_code: number | null;
  /** While it runs; a service that does not has none. */
  published_ports: { guest_port: number; host_port: number; host: string }[];
  execution_mode: string;
}

export interface ServiceList {
  workspace_id: string;
  count: number;
  running_count: number;
  services: Service[];
}

export interface ServiceLogs {
  workspace_id: string;
  service_name: string;
  state: ServiceState;
  stdout: string;
  stderr: string;
  /** How many lines of each were asked for; null for all. */
  tail_lines: number | null;
  /** Whether there was more, also what the bounded log has dropped. */
  truncated: boolean;
}
