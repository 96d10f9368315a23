import { BUDGET_WORDS } from "../../model/budget.ts";
import type { ClocheEvent } from "../../model/event.ts";
import { formatBytes } from "../output/bytes.ts";
import type { Colours } from "../output/colour.ts";
import { formatElapsed, formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { quoteCommand } from "../output/quote-command.ts";

const MAX_CHARACTERS = 120;

/** One line: when, about what, which kind, and what is worth knowing of it. */
export function formatEvent(event: ClocheEvent, { bold, dim, red }: Colours): string {
  const about = event.identity ?? event.workspace_id ?? "-";
  const paint = isBad(event) ? red : (text: string) => text;
  const details = cut(escapeName(describe(event)));
  return [
    dim(String(event.sequence)),
    formatTime(event.time),
    escapeName(about),
    bold(event.kind),
    ...(details === "" ? [] : [paint(details)]),
  ].join("  ");
}

function isBad(event: ClocheEvent): boolean {
  if (event.kind === "command.ended") return event.state !== "done" || event.exit_code !== 0;
  if (event.kind === "service.ended") return event.state === "failed";
  return ["workspace.failed", "egress.denied", "push.rejected", "proposal.failed", "egress.lost", "log.gap"].includes(
    event.kind,
  );
}

/** In the words of the command line, without what is in the rest of the line. */
function describe(event: ClocheEvent): string {
  switch (event.kind) {
    case "workspace.created":
    case "workspace.forked": {
      const from = event.from_workspace_id === null ? "" : ` from ${event.from_workspace_id}`;
      return `${event.name ?? ""} ${event.environment} on ${event.backend}${from}`.trim();
    }
    case "workspace.updated":
      return [event.name ?? "", ...Object.entries(event.labels).map(([key, value]) => `${key}=${value}`)]
        .join(" ")
        .trim();
    case "workspace.reset":
      return `to ${event.snapshot_name}`;
    case "workspace.expired":
      return [
        `after ${event.ttl_seconds} s without activity`,
        ...(typeof event.deletes_at === "number" ? [`kept until ${formatTime(event.deletes_at)}`] : []),
      ].join("; ");
    case "workspace.deleted":
      return [event.name ?? "", event.because === "expired" ? "its time was over" : ""].filter(Boolean).join(": ");
    case "workspace.failed":
      return event.reason;
    case "command.started":
      return `[${event.command_sequence}] ${quoteCommand(event.command)}`;
    case "command.ended":
      return `[${event.command_sequence}] ${describeEnd(event)}`;
    case "file.written":
      return `${event.path} (${formatBytes(event.bytes_written)})`;
    case "patch.applied":
      return `${count(event.file_count, "file")}: ${event.files.map(({ path }) => path).join(" ")}`;
    case "sync.pushed":
      return `${count(event.files, "file")} from ${event.source_path} to ${event.dest}`;
    case "export.made":
      return `${event.workspace_path} to ${event.output_path}`;
    case "changes.applied": {
      const where = event.branch === null ? event.checkout_path : `${event.checkout_path} as ${event.branch}`;
      return `${count(event.files, "file")} to ${where}`;
    }
    case "disk.exported":
      return `to ${event.output_path}`;
    case "snapshot.created":
      return `${event.snapshot_name} (${formatBytes(event.size_bytes)}${event.live ? ", live" : ""})`;
    case "snapshot.deleted":
      return event.snapshot_name;
    case "service.started":
      return `${event.service_name}: ${quoteCommand(event.command)}`;
    case "service.ready":
      return event.service_name;
    case "service.ended":
      return `${event.service_name} ${event.state}${event.exit_code === null ? "" : `, exit ${event.exit_code}`}`;
    case "shell.opened":
      return `${event.shell_id} in ${event.cwd}`;
    case "shell.closed":
      return event.shell_id;
    case "egress.request":
      return `${event.method} ${event.host}:${event.port}${event.path} ${event.status}`;
    case "egress.denied":
      return `${event.method} ${event.host}:${event.port}${event.path} ${event.code}`;
    case "credential.used":
      return `${event.credentials.join(" ")} for ${event.host}:${event.port}, ${count(event.requests, "request")}`;
    case "egress.lost":
      return `${count(event.count, "event")} of the gate`;
    case "policy.changed":
      return `${event.before_hash.slice(0, 12)} to ${event.after_hash.slice(0, 12)} by ${event.operator ?? "policy"}${event.proposal_id === null ? "" : ` for ${event.proposal_id}`}`;
    case "push.accepted":
      return `${event.repo} ${event.refs.join(" ")}`;
    case "push.held":
      return `${event.repo} ${event.refs.join(" ")}, waits for ${event.proposal_id}`;
    case "push.rejected":
      return `${event.repo} ${event.refs.join(" ")}: ${event.reason}`;
    case "proposal.created":
      return `${event.proposal_id} ${event.proposal_kind}: ${event.adds} ${event.justification}`;
    case "proposal.decided":
      return `${event.proposal_id} ${event.status}${event.reason === null ? "" : `: ${event.reason}`}`;
    case "proposal.failed":
      return `${event.proposal_id}: ${event.reason}`;
    case "rule.added":
      return `${event.rule_id} ${event.proposal_kind}: ${event.adds}`;
    case "rule.removed":
      return `${event.rule_id} ${event.proposal_kind}`;
    case "budget.near":
      return `${event.used} of ${event.limit} ${BUDGET_WORDS[event.resource]}`;
    case "run.started":
      return `${event.agent_name} in ${event.bottle_names.join(", ")} on ${event.backend}`;
    case "run.moved":
      return `to ${event.environment}`;
    case "run.done":
      return event.summary;
    case "run.ended":
      return event.exit_code === null ? "lost" : `exit ${event.exit_code}`;
    case "log.gap":
      return `${event.first_missing} to ${event.last_missing} are no longer kept`;
    case "workspace.started":
    case "workspace.stopped":
      return "";
  }
}

function describeEnd(event: Extract<ClocheEvent, { kind: "command.ended" }>): string {
  if (event.state === "lost") return "lost";
  return `exit ${event.exit_code}, ${formatElapsed(event.duration_ms)}${event.timed_out ? ", timed out" : ""}`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_CHARACTERS ? text : `${characters.slice(0, MAX_CHARACTERS).join("")}…`;
}
