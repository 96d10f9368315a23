import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "reset"],
  summary: "Go back to a snapshot in a new sandbox",
  description:
    "The id, the name and the snapshots stay. Commands, services and shells are ended, and the journal begins anew. After a reset to a live snapshot, what ran at its moment runs on from there.",
  positionals: [WORKSPACE],
  options: {
    snapshot: {
      type: "string",
      value: "NAME",
      description: "Which snapshot (default: baseline, the files of its creation)",
      completes: "snapshot",
    },
  },
  examples: ["cloche workspace reset ws-4", "cloche workspace reset ws-4 --snapshot before-refactoring"],
  async run(context) {
    const client = await context.connect();
    const reset = await client.resetWorkspace(context.argument("ID"), {
      snapshot: context.values.snapshot,
      onProgress: context.onProgress,
    });
    await context.print(reset, () => `Reset ${reset.workspace_id} to "${reset.workspace_reset.snapshot_name}"`);
    return 0;
  },
});
