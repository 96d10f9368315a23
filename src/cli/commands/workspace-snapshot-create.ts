import { formatBytes } from "../output/bytes.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "snapshot", "create"],
  summary: "Keep the files of this moment under a name",
  description:
    "What runs in the workspace goes on. With --live it is kept too, and runs on from here after a reset or in a fork.",
  positionals: [WORKSPACE, { name: "NAME", description: "A name that the workspace has no snapshot of yet" }],
  options: {
    live: { type: "boolean", description: "Keep the running machine with its processes (backend vm)" },
  },
  examples: [
    "cloche workspace snapshot create ws-4 before-refactoring",
    "cloche workspace snapshot create ws-4 server-is-up --live",
  ],
  async run(context) {
    const client = await context.connect();
    const made = await client.createSnapshot(context.argument("ID"), context.argument("NAME"), {
      live: context.values.live,
    });
    const { snapshot_name: name, size_bytes: size } = made.snapshot;
    await context.print(
      made,
      () => `Kept ${formatBytes(size)} ${made.snapshot.live ? "of a machine" : "of changes"} as "${name}"`,
    );
    return 0;
  },
});
