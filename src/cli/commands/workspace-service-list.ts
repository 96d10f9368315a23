import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { formatServices } from "../results/service-details.ts";

export const command = defineCommand({
  words: ["workspace", "service", "list"],
  summary: "List the services of a workspace",
  positionals: [WORKSPACE],
  options: {},
  examples: ["cloche workspace service list ws-4", "cloche workspace service list ws-4 --json | jq .running_count"],
  async run(context) {
    const list = await (await context.connect()).listServices(context.argument("ID"));
    if (list.count === 0 && !context.json) context.note("No services");
    await context.print(list, () => (list.count === 0 ? "" : formatServices(list.services, context.layout)));
    return 0;
  },
});
