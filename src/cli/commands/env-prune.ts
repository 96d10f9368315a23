import { formatBytes } from "../bytes.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../escape.ts";

export const command = defineCommand({
  words: ["env", "prune"],
  summary: "Remove built environments that no workspace uses",
  description: "They are built again when they are needed.",
  positionals: [],
  options: {},
  examples: ["cloche env prune"],
  async run(context) {
    const pruned = await (await context.connect()).pruneEnvironments();
    const lines = pruned.removed.map(
      ({ name, size_bytes }) => `Removed ${escapeName(name)}, ${formatBytes(size_bytes)}`,
    );
    await context.print(pruned, () => [...lines, `Freed ${formatBytes(pruned.freed_bytes)}`].join("\n"));
    return 0;
  },
});
