import { defineCommand } from "../command.ts";
import { runSession } from "../terminal/command-session.ts";
import { SECRET_ENV, TIMEOUT_SECONDS, TTY, WORKSPACE } from "../arguments/common-options.ts";
import { toRecord } from "../arguments/option-values.ts";

export const command = defineCommand({
  words: ["workspace", "exec"],
  summary: "Run a command in a workspace",
  description: "Standard input is passed on when it is piped. The exit code is the command's own.",
  positionals: [WORKSPACE],
  options: {
    "timeout-seconds": TIMEOUT_SECONDS,
    "secret-env": SECRET_ENV,
    tty: TTY,
  },
  takesCommand: true,
  examples: [
    "cloche workspace exec ws-4 -- npm test",
    "cloche workspace exec ws-4 --timeout-seconds 300 -- make -j2",
    "cloche workspace exec ws-4 --secret-env TOKEN=NPM_TOKEN -- npm publish --dry-run",
    "tar c src | cloche workspace exec ws-4 -- tar x",
    "cloche workspace exec ws-4 -t -- bash",
  ],
  async run(context) {
    const { values } = context;
    const client = await context.connect();
    return await runSession(context, {
      words: this.words,
      tty: values.tty,
      timeoutSeconds: values["timeout-seconds"],
      open: (request) =>
        Promise.resolve(
          client.openCommand(context.argument("ID"), {
            ...request,
            command: [...context.command],
            secret_env: toRecord(values["secret-env"]),
          }),
        ),
    });
  },
});
