import { formatBytes } from "../output/bytes.ts";
import { defineCommand } from "../command.ts";
import { ENVIRONMENT } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["env", "pull"],
  summary: "Build or refresh an environment now",
  description: [
    "Otherwise it is built when the first workspace needs it.",
    "The steps of `dockerfile:FOLDER` run in the Docker engine, behind no wall of cloche's: build only what you trust. They have no network unless you ask for it here.",
  ].join("\n"),
  positionals: [{ ...ENVIRONMENT, description: "Its name, as in `cloche env list`", optional: false }],
  options: {
    "build-network": { type: "boolean", description: "Let the steps of a Dockerfile use the engine's network" },
  },
  examples: ["cloche env pull debian:12", "cloche env pull dockerfile:./tools --build-network"],
  async run(context) {
    const client = await context.connect();
    const environment = await client.pullEnvironment(context.argument("ENVIRONMENT"), {
      build_network: context.values["build-network"],
      onProgress: context.onProgress,
    });
    const size = environment.size_bytes === null ? "" : `, ${formatBytes(environment.size_bytes)}`;
    await context.print(environment, () => `${escapeName(environment.name)} is ${environment.state}${size}`);
    return 0;
  },
});
