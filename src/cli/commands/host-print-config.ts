import { HOSTS, type HostName } from "../../model/host.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { hostSetting } from "../arguments/host-setting.ts";
import { SERVE_OPTIONS } from "../arguments/serve-options.ts";

export const command = defineCommand({
  words: ["host", "print-config"],
  summary: "Print what belongs into a host's configuration",
  description: "The options are passed on to `cloche mcp serve`. Nothing is written.",
  positionals: [{ name: "HOST", description: "The agent or editor", choices: HOSTS }],
  options: SERVE_OPTIONS,
  examples: ["cloche host print-config cursor", "cloche host print-config opencode --profile workspace-full"],
  async run(context) {
    const { hostConfig } = await import("../../hosts/print-config.ts");
    const { launcher, options } = hostSetting(context);
    const config = await hostConfig(context.argument("HOST") as HostName, launcher, options ?? []);
    await context.print(config, () => config.config);
    if (!context.json) context.note(`This belongs into ${escapeName(config.config_path)}`);
    return 0;
  },
});
