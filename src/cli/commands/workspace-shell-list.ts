import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatShells } from "../results/shell-table.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "list"],
  summary: "List the shells of a workspace",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace shell list ws-4", "cloche workspace shell list ws-4 --json | jq .running_count"],
  async run(context) {
    const list = await (await context.connect()).listShells(context.argument("ID"));
    if (list.count === 0 && !context.json) context.note("No shells");
    const now = Date.now() / 1000;
    await context.print(list, () => (list.count === 0 ? "" : formatShells(list.shells, now, context.layout)));
    return 0;
  },
});
