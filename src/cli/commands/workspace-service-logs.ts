import { defineCommand } from "../command.ts";
import { SERVICE, WORKSPACE } from "../arguments/common-options.ts";
import { escapeOutput } from "../output/escape.ts";
import { parseCount } from "../arguments/option-values.ts";
import { usageError } from "../arguments/usage-error.ts";
import { writeAll } from "../output/write-all.ts";

export const command = defineCommand({
  words: ["workspace", "service", "logs"],
  summary: "Show what a service printed",
  description: "Its stdout comes on stdout and its stderr on stderr.",
  positionals: [WORKSPACE, SERVICE],
  options: {
    "tail-lines": {
      type: "string",
      value: "N",
      description: "How many of the last lines of each (default: 200)",
      parse: parseCount,
    },
    all: { type: "boolean", description: "All that was kept" },
  },
  examples: ["cloche workspace service logs ws-4 web", "cloche workspace service logs ws-4 web --all > web.log"],
  async run(context) {
    const { "tail-lines": tailLines, all } = context.values;
    if (all && tailLines !== undefined) throw usageError(this.words, "Give only one of --tail-lines and --all");
    const client = await context.connect();
    const logs = await client.logsService(context.argument("ID"), context.argument("NAME"), {
      tail_lines: tailLines,
      ...(all && { all }),
    });
    if (context.json) {
      await context.print(logs, () => "");
      return 0;
    }
    const { stdout, stderr } = context.io;
    const show = (text: string, onTerminal: boolean) => (onTerminal ? escapeOutput(text) : text);
    await writeAll(stdout, show(logs.stdout, context.onTerminal));
    await writeAll(stderr, show(logs.stderr, stderr.isTTY === true));
    if (logs.truncated)
      context.note(all ? "note: what came before was not kept" : "note: there is more; --all shows what was kept");
    return 0;
  },
});
