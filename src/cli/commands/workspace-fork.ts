import { defineCommand } from "../command.ts";
import { ID_ONLY, WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "fork"],
  summary: "Make a new workspace with the files of this one",
  description:
    "What runs is not copied, unless --snapshot names a live one: then it runs on in the fork too. Its diff is against the same baseline.",
  positionals: [WORKSPACE],
  options: {
    snapshot: {
      type: "string",
      value: "NAME",
      description: "The files of a snapshot (default: as they are now)",
      completes: "snapshot",
    },
    name: { type: "string", value: "NAME", description: "A name to tell the new one by" },
    "id-only": ID_ONLY,
  },
  examples: [
    "cloche workspace fork ws-4 --name attempt-2",
    "cloche workspace fork ws-4 --snapshot before-refactoring --json",
    "OTHER=$(cloche workspace fork ws-4 --id-only)",
  ],
  async run(context) {
    const { snapshot, name } = context.values;
    const client = await context.connect();
    const options = { snapshot, name, onProgress: context.onProgress };
    const workspace = await client.forkWorkspace(context.argument("ID"), options);
    // Without --id-only too, the id is all that there is to say.
    await context.print(workspace, () => workspace.workspace_id);
    return 0;
  },
});
