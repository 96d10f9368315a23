import { defineCommand } from "../command.ts";
import { formatEnvironments } from "../results/environment-table.ts";

export const command = defineCommand({
  words: ["env", "list"],
  summary: "List the environments",
  description: "cold: not built yet · warm: ready · stale: built from an older definition",
  positionals: [],
  options: {},
  examples: ["cloche env list"],
  async run(context) {
    const list = await (await context.connect()).listEnvironments();
    await context.print(list, () => formatEnvironments(list.environments, context.layout).join("\n"));
    return 0;
  },
});
