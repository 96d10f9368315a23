import type { Workspace } from "../../model/workspace.ts";
import { formatTime, formatUntil } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { modelUsageWords } from "./model-usage-words.ts";
import { formatPairs } from "../output/table.ts";

/** When it ends by itself: `in 59m`, `never`, or of an expired one `deleted in 23h`. */
export function formatEnd({ expires_at: at, deletes_at: deletes }: Workspace, now: number): string {
  if (deletes !== null) return `deleted ${formatUntil(deletes - now)}`;
  return at === null ? "never" : formatUntil(at - now);
}

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
    ["shells", `${workspace.shell_count} running`],
    ...(workspace.model_usage.requests === 0
      ? []
      : [["models", modelUsageWords(workspace.model_usage)] as [string, string]]),
    ["resets", String(workspace.reset_count)],
    ["created", formatTime(workspace.created_at)],
    ["last activity", formatTime(workspace.last_activity_at)],
    [workspace.state === "expired" ? "expired" : "expires", formatEnd(workspace, now)],
  ];
  return formatPairs(pairs.map(([name, value]) => [name, escapeName(value)] as const)).join("\n");
}
