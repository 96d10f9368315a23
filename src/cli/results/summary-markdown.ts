import type { ChangeStatus, DiffEntry } from "../../model/files.ts";
import type { CommandOutline, Summary } from "../../model/summary.ts";
import { formatBytes } from "../output/bytes.ts";
import { formatElapsed } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { modelUsageWords } from "./model-usage-words.ts";
import { quoteCommand } from "../output/quote-command.ts";

const MAX_COMMAND_CHARACTERS = 120;
const MAX_CHANGES = 50;

const MARKS: Readonly<Record<ChangeStatus, string>> = {
  added: "+",
  modified: "~",
  deleted: "-",
  renamed: "→",
  type_changed: "~",
};

/** A summary as short Markdown. Everything that a sandbox could have named stands in code spans, so that it formats nothing. */
export function formatSummary(summary: Summary): string {
  const { name, workspace_id: id } = summary;
  return [
    name === null ? `## Workspace ${code(id)}` : `## Workspace ${code(name)} (${code(id)})`,
    "",
    outcomeLine(summary),
    ...section(...changes(summary.changes)),
    ...section(...commands(summary.commands)),
    ...section(
      "Services",
      summary.services.current.map(({ service_name, state, exit_code }) => {
        const exit = exit_code === null ? "" : `, exit ${exit_code}`;
        return `${code(service_name)}: ${state === "failed" ? `**failed**${exit}` : `${state}${exit}`}`;
      }),
    ),
    ...section(
      "Shells",
      summary.shells.current.map(({ shell_id: id, state, cwd }) => `${code(id)}: ${state} in ${code(cwd)}`),
    ),
    ...section(
      "Exports",
      summary.artifacts.exports.map((one) => `${code(short(one.workspace_path))} to ${code(one.output_path)}`),
    ),
    ...section(
      "Snapshots",
      summary.snapshots.recent.map(
        (one) => `${code(one.snapshot_name)} (${formatBytes(one.size_bytes)}${one.live ? ", live" : ""})`,
      ),
    ),
  ].join("\n");
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", `### ${title}`, "", ...lines.map((line) => `- ${line}`)];

function outcomeLine({
  state,
  environment,
  outcome,
  changes: { available, summary },
  model_usage: used,
}: Summary): string {
  const last = outcome.last_command;
  const { running_service_count: running, service_count: services, reset_count: resets } = outcome;
  return [
    `${state} on ${code(environment)}`,
    count(outcome.command_count, "command") + (last === null ? "" : `, the last ${verdict(last)}`),
    ...(available ? [summary.total === 0 ? "nothing changed" : count(summary.total, "change")] : []),
    ...(services === 0 ? [] : [`${running} of ${count(services, "service")} running`]),
    ...(outcome.export_count === 0 ? [] : [count(outcome.export_count, "export")]),
    ...(outcome.snapshot_count === 0 ? [] : [count(outcome.snapshot_count, "snapshot")]),
    ...(used.requests === 0 ? [] : [modelUsageWords(used)]),
    ...(resets === 0 ? [] : [`reset ${resets === 1 ? "once" : `${resets} times`}`]),
  ].join(" · ");
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

function verdict({ state, exit_code, timed_out }: CommandOutline): string {
  if (state === "running") return "still running";
  if (state === "lost") return "**lost**";
  if (timed_out) return "**timed out**";
  return exit_code === 0 ? "done" : `**exit ${exit_code}**`;
}

function changes({
  available,
  reason,
  summary,
  entries,
  ignored_count: ignored,
}: Summary["changes"]): [string, string[]] {
  if (!available) return ["Changes", [`not available: ${code(reason ?? "unknown")}`]];
  const lines = entries.slice(0, MAX_CHANGES).map(changeLine);
  const more = summary.total - lines.length;
  return [
    "Changes",
    [
      ...lines,
      ...(more > 0 ? [`and ${more} more`] : []),
      ...(ignored > 0 ? [`${count(ignored, "ignored change")} not shown`] : []),
    ],
  ];
}

/** The mark is within the code span: outside of it, `+` and `-` would begin a list. */
function changeLine({ path, status, old_path }: Omit<DiffEntry, "patch">): string {
  const line = code(`${MARKS[status]} ${short(path)}`);
  if (old_path !== undefined) return `${line} (was ${code(short(old_path))})`;
  return status === "type_changed" ? `${line} (another type)` : line;
}

function commands({ total, recent }: Summary["commands"]): [string, string[]] {
  const title = total > recent.length ? `Commands (last ${recent.length} of ${total})` : "Commands";
  return [
    title,
    recent.map((command) => {
      const text = cut(quoteCommand(command.command));
      const time = command.state === "done" ? `, ${formatElapsed(command.duration_ms)}` : "";
      return `${code(text)}: ${verdict(command)}${time}`;
    }),
  ];
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_COMMAND_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_COMMAND_CHARACTERS).join("")}…`;
}

const short = (path: string): string => (path.startsWith("/workspace/") ? path.slice("/workspace/".length) : path);

/** A code span that ends where it is meant to, whatever is in it. */
function code(text: string): string {
  const shown = escapeName(text);
  const longest = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 || shown.trim() !== shown || shown === "" ? " " : "";
  return `${fence}${pad}${shown}${pad}${fence}`;
}
