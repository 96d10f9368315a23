import { defineCommand } from "../command.ts";
import { formatEnvironments } from "../environment-table.ts";

export const command = defineCommand({
  words: ["env", "list"],
  summary: "List the environments",
  description: "cold: not built yet · warm: ready · stale: built from an older definition",
  positionals: [],
  options: {},
  examples: ["cloche env list"],
  async run(context) {
    const list = await (await context.connect()).listEnvironments();
    await context.print(list, () => {
      const [header = "", ...lines] = formatEnvironments(list.environments);
      return [context.colours.bold(header), ...lines].join("\n");
    });
    return 0;
  },
});
