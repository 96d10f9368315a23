import { formatBytes } from "../output/bytes.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatTable } from "../output/table.ts";

export const command = defineCommand({
  words: ["workspace", "snapshot", "list"],
  summary: "List the snapshots of a workspace",
  description: "The first is the baseline: the files of its creation. A live one has kept what ran, too.",
  positionals: [WORKSPACE],
  options: {},
  examples: [
    "cloche workspace snapshot list ws-4",
    "cloche workspace snapshot list ws-4 --json | jq -r '.snapshots[].snapshot_name'",
  ],
  async run(context) {
    const list = await (await context.connect()).listSnapshots(context.argument("ID"));
    await context.print(list, () => {
      const rows = list.snapshots.map((one) =>
        [one.snapshot_name, one.live ? "live" : one.kind, formatTime(one.created_at), formatBytes(one.size_bytes)].map(
          escapeName,
        ),
      );
      return formatTable(["NAME", "KIND", "CREATED", "SIZE"], rows, context.layout).join("\n");
    });
    return 0;
  },
});
