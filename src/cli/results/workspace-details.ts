import type { Workspace } from "../../model/workspace.ts";
import { formatTime, formatUntil } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatPairs } from "../output/table.ts";

/** One workspace as aligned lines. */
export function formatWorkspace(workspace: Workspace, now: number): string {
  const seed = workspace.workspace_seed;
  const labels = Object.entries(workspace.labels).map(([key, value]) => `${key}=${value}`);
  const pairs: [string, string][] = [
    ["id", workspace.workspace_id],
    ["name", workspace.name ?? "-"],
    ["state", workspace.state + (workspace.state_reason === null ? "" : `: ${workspace.state_reason}`)],
    ["labels", labels.join(", ") || "-"],
    ["environment", workspace.environment],
    ["backend", workspace.backend],
    ["network", workspace.network_policy],
    ["limits", `${workspace.vcpu_count} vcpu, ${workspace.mem_mib} MiB`],
    ["seed", seed.seed_path === null ? seed.mode : `${seed.mode} ${seed.seed_path}`],
    ["secrets", workspace.secrets.map(({ name }) => name).join(", ") || "-"],
    ["commands", String(workspace.command_count)],
    ["services", `${workspace.running_service_count} of ${workspace.service_count} running`],
    ["resets", String(workspace.reset_count)],
    ["created", formatTime(workspace.created_at)],
    ["last activity", formatTime(workspace.last_activity_at)],
    ["expires", formatUntil(workspace.expires_at - now)],
  ];
  return formatPairs(pairs.map(([name, value]) => [name, escapeName(value)] as const)).join("\n");
}
