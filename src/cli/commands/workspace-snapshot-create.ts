import { formatBytes } from "../bytes.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../common-options.ts";

export const command = defineCommand({
  words: ["workspace", "snapshot", "create"],
  summary: "Keep the files of this moment under a name",
  description: "What runs in the workspace goes on.",
  positionals: [WORKSPACE, { name: "NAME", description: "A name that the workspace has no snapshot of yet" }],
  options: {},
  examples: ["cloche workspace snapshot create ws-4 before-refactoring"],
  async run(context) {
    const made = await (await context.connect()).createSnapshot(context.argument("ID"), context.argument("NAME"));
    const { snapshot_name: name, size_bytes: size } = made.snapshot;
    await context.print(made, () => `Kept ${formatBytes(size)} of changes as ${name}`);
    return 0;
  },
});
