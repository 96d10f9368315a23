import { defineCommand } from "../command.ts";
import { BACKEND, ENVIRONMENT, OCI_RUNTIME } from "../arguments/common-options.ts";
import { formatElapsed } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { formatPairs } from "../output/table.ts";

const DONE = {
  environment: "environment ready",
  backend: "backend ready",
  create: "created",
  exec: "ran a command",
  reset: "reset",
  delete: "deleted",
} as const;

export const command = defineCommand({
  words: ["prepare"],
  summary: "Make an environment ready on a backend, and prove it",
  description:
    "Builds or fetches what the first workspace would wait for, then creates a workspace, runs a command in it, resets it and deletes it.",
  positionals: [ENVIRONMENT],
  options: { backend: BACKEND, "oci-runtime": OCI_RUNTIME },
  examples: ["cloche prepare", "cloche prepare debian:12 --backend vm"],
  async run(context) {
    const client = await context.connect();
    const prepared = await client.prepare({
      environment: context.optionalArgument("ENVIRONMENT"),
      backend: context.values.backend,
      oci_runtime: context.values["oci-runtime"],
      onProgress: context.onProgress,
    });
    const { bold, green } = context.colours;
    await context.print(prepared, () =>
      [
        ...formatPairs(
          prepared.steps.map(({ step, duration_ms }) => [DONE[step], formatElapsed(duration_ms)] as const),
        ),
        green(`Ready: ${bold(escapeName(prepared.environment))} on ${bold(escapeName(prepared.backend))}`),
      ].join("\n"),
    );
    return 0;
  },
});
