import { CONNECTABLE_HOSTS, HOSTS } from "../../model/host.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { printHostChange } from "../results/host-change.ts";
import { usageError } from "../arguments/usage-error.ts";
import { hostSetting } from "../arguments/host-setting.ts";
import { quoteCommand } from "../output/quote-command.ts";
import { SERVE_OPTIONS } from "../arguments/serve-options.ts";

export const command = defineCommand({
  words: ["host", "connect"],
  summary: "Give a coding agent cloche's tools, with the agent's own command",
  description: [
    "Adds the server to the user's configuration with `claude mcp add` or `codex mcp add`; the file as it was is kept in the cloche home.",
    "The options are passed on to `cloche mcp serve`. Connecting twice changes nothing.",
  ].join("\n"),
  positionals: [{ name: "HOST", description: "The agent", choices: HOSTS }],
  options: SERVE_OPTIONS,
  examples: ["cloche host connect claude-code", "cloche host connect codex --mode repro-fix"],
  async run(context) {
    const named = context.argument("HOST");
    const host = CONNECTABLE_HOSTS.find((one) => one === named);
    if (host === undefined) {
      const advice = `\`cloche host repair ${named}\` writes it into the file of ${named}.`;
      throw usageError(this.words, `${named} has no command of its own that adds a server`, advice);
    }
    const { connectHost } = await import("../../hosts/connect-host.ts");
    const done = await connectHost(host, hostSetting(context));
    const starts = escapeName(quoteCommand([...done.command]));
    await printHostChange(context, done, () =>
      done.changed ? `Connected ${host}: it starts ${starts}` : `Already connected: ${host} starts ${starts}`,
    );
    return 0;
  },
});
