import type { ShellOutput } from "../../model/shell.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { escapeOutput } from "../output/escape.ts";
import { parseCount } from "../arguments/option-values.ts";
import { parseOffset, SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "read"],
  summary: "Show the output of a shell",
  description: "Reading takes nothing away: the same part can be read again while the shell still has it.",
  positionals: [WORKSPACE, SHELL],
  options: {
    cursor: {
      type: "string",
      value: "N",
      description: "Start at this byte of all its output, such as the next_cursor of an earlier read (default: 0)",
      parse: parseOffset,
    },
    "max-chars": {
      type: "string",
      value: "N",
      description: "Show no more than this (default: 65536)",
      parse: parseCount,
    },
    plain: { type: "boolean", description: "As a person would see it, without control sequences" },
    "wait-for-idle-ms": {
      type: "string",
      value: "MS",
      description: "Wait until nothing has come for this long",
      parse: parseOffset,
    },
  },
  examples: [
    "cloche workspace shell read ws-4 sh-1a2b3c4d --plain --wait-for-idle-ms 300",
    "cloche workspace shell read ws-4 sh-1a2b3c4d --cursor 4096 --json",
  ],
  async run(context) {
    const { values } = context;
    const seen = await (
      await context.connect()
    ).readShell(context.argument("ID"), context.argument("SHELL"), {
      cursor: values.cursor,
      max_chars: values["max-chars"],
      plain: values.plain,
      wait_for_idle_ms: values["wait-for-idle-ms"],
    });
    await context.print(seen, () => (context.onTerminal ? escapeOutput(seen.output) : seen.output));
    if (!context.json) for (const note of notes(seen, values.cursor ?? 0)) context.note(note);
    return 0;
  },
});

function notes(seen: ShellOutput, asked: number): string[] {
  const isLost = seen.cursor > asked;
  return [
    ...(isLost ? [`note: the output before byte ${seen.cursor} is not kept any more`] : []),
    ...(seen.truncated && !isLost ? [`note: there is more; read on with --cursor ${seen.next_cursor}`] : []),
    ...(seen.state === "running" ? [] : ["note: the shell has ended"]),
  ];
}
