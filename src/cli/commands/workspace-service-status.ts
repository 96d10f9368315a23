import { defineCommand } from "../command.ts";
import { SERVICE, WORKSPACE } from "../arguments/common-options.ts";
import { formatService } from "../results/service-details.ts";

export const command = defineCommand({
  words: ["workspace", "service", "status"],
  summary: "Show one service",
  positionals: [WORKSPACE, SERVICE],
  options: {},
  examples: ["cloche workspace service status ws-4 web"],
  async run(context) {
    const service = await (await context.connect()).statusService(context.argument("ID"), context.argument("NAME"));
    await context.print(service, () => formatService(service));
    return 0;
  },
});
