import type { JournalEntry } from "../../model/exec.ts";
import type { Colours } from "../output/colour.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatElapsed } from "../output/duration.ts";
import { escapeName, escapeOutput } from "../output/escape.ts";
import { quoteCommand } from "../output/quote-command.ts";

export const command = defineCommand({
  words: ["workspace", "logs"],
  summary: "Show the commands that ran, with their output",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace logs ws-4", "cloche workspace logs ws-4 --json | jq '.entries[-1]'"],
  async run(context) {
    const journal = await (await context.connect()).logsWorkspace(context.argument("ID"));
    if (journal.entries.length === 0 && !context.json) context.note("No commands yet");
    const show = context.onTerminal ? escapeOutput : (text: string) => text;
    await context.print(journal, () =>
      journal.entries.map((entry) => formatEntry(entry, context.colours, show)).join("\n"),
    );
    return 0;
  },
});

function formatEntry(entry: JournalEntry, { bold, dim, red }: Colours, show: (text: string) => string): string {
  const cut = (truncated: boolean) => (truncated ? dim("[more output was not kept]\n") : "");
  const output = [
    endLine(show(entry.stdout)) + cut(entry.stdout_truncated),
    endLine(show(entry.stderr)) + cut(entry.stderr_truncated),
  ].join("");
  const paint = entry.state === "done" && entry.exit_code !== 0 ? red : dim;
  return `${bold(`$ ${escapeName(quoteCommand(entry.command))}`)}\n${output}${paint(`[${outcome(entry)}]`)}`;
}

function outcome(entry: JournalEntry): string {
  if (entry.state === "running") return `number ${entry.sequence}, running for ${formatElapsed(entry.duration_ms)}`;
  if (entry.state !== "done") return entry.state;
  return `exit ${entry.exit_code}, ${formatElapsed(entry.duration_ms)}${entry.timed_out ? ", timed out" : ""}`;
}

const endLine = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
