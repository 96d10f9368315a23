import { formatBytes } from "../output/bytes.ts";
import { defineCommand } from "../command.ts";
import { ENVIRONMENT } from "../arguments/common-options.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatPairs } from "../output/table.ts";

export const command = defineCommand({
  words: ["env", "inspect"],
  summary: "Show what is in an environment",
  positionals: [{ ...ENVIRONMENT, description: "Its name, as in `cloche env list`", optional: false }],
  options: {},
  examples: ["cloche env inspect host", "cloche env inspect debian:12 --json"],
  async run(context) {
    const detail = await (await context.connect()).inspectEnvironment(context.argument("ENVIRONMENT"));
    const pairs: [string, string][] = [
      ["name", detail.name],
      ["description", detail.description],
      ["state", detail.state],
      ["size", detail.size_bytes === null ? "-" : formatBytes(detail.size_bytes)],
      ["built", detail.built_at === null ? "-" : formatTime(detail.built_at)],
      ["digest", detail.digest ?? "-"],
      ["host folders", detail.host_paths.join(", ") || "-"],
      ["packages", detail.packages.join(", ") || "-"],
    ];
    await context.print(detail, () =>
      formatPairs(
        pairs.map(([name, value]) => [name, escapeName(value)] as const),
        context.layout.width,
      ).join("\n"),
    );
    return 0;
  },
});
