import { defineCommand } from "../command.ts";
import { SERVICE, WORKSPACE } from "../arguments/common-options.ts";

export const command = defineCommand({
  words: ["workspace", "service", "stop"],
  summary: "Stop a service and all that it started",
  positionals: [WORKSPACE, SERVICE],
  options: {},
  examples: ["cloche workspace service stop ws-4 web"],
  async run(context) {
    const service = await (await context.connect()).stopService(context.argument("ID"), context.argument("NAME"));
    const exit = service.exit_code === null ? "" : `, exit code ${service.exit_code}`;
    await context.print(service, () =>
      service.state === "stopped"
        ? `Stopped ${service.service_name}${exit}`
        : `${service.service_name} had ${service.state} before${exit}`,
    );
    return 0;
  },
});
