import { formatBytes } from "../bytes.ts";
import { defineCommand } from "../command.ts";
import { ENVIRONMENT } from "../common-options.ts";
import { escapeName } from "../escape.ts";

export const command = defineCommand({
  words: ["env", "pull"],
  summary: "Build or refresh an environment now",
  description: "Otherwise it is built when the first workspace needs it.",
  positionals: [{ ...ENVIRONMENT, description: "Its name, as in `cloche env list`", optional: false }],
  options: {},
  examples: ["cloche env pull debian:12"],
  async run(context) {
    const client = await context.connect();
    const environment = await client.pullEnvironment(context.argument("ENVIRONMENT"), {
      onProgress: context.onProgress,
    });
    const size = environment.size_bytes === null ? "" : `, ${formatBytes(environment.size_bytes)}`;
    await context.print(environment, () => `${escapeName(environment.name)} is ${environment.state}${size}`);
    return 0;
  },
});
