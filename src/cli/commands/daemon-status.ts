import { defineCommand } from "../command.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatPairs } from "../output/table.ts";

export const command = defineCommand({
  words: ["daemon", "status"],
  summary: "Show whether the daemon runs",
  description: "It is started when a command needs it; asking does not start it.",
  positionals: [],
  options: {},
  examples: ["cloche daemon status", "cloche daemon status --json"],
  async run(context) {
    const status = await (await context.connect()).daemonStatus();
    const rows: [string, string | number | null][] = [
      ["running", status.running ? "yes" : "no"],
      ["pid", status.pid],
      ["socket", status.socket],
      ["version", status.version],
      ["started", status.started_at === null ? null : formatTime(status.started_at)],
      ["workspaces", status.workspace_count],
      ["mcp", status.mcp_url],
    ];
    const known = rows.flatMap(([name, value]) => (value === null ? [] : [[name, escapeName(String(value))] as const]));
    await context.print(status, () => formatPairs(known).join("\n"));
    return 0;
  },
});
