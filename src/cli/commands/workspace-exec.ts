import { type Context, defineCommand } from "../command.ts";
import { runSession, variablesOf } from "../terminal/command-session.ts";
import { CWD, ENV, INTERACTIVE, SECRET_ENV, TIMEOUT_SECONDS, TTY, WORKSPACE } from "../arguments/common-options.ts";
import { toRecord } from "../arguments/option-values.ts";
import { usageError } from "../arguments/usage-error.ts";
import type { ExecOptions } from "../../sdk/options.ts";

export const command = defineCommand({
  words: ["workspace", "exec"],
  summary: "Run a command in a workspace",
  description:
    "Standard input is passed on when it is piped. The exit code is the command's own. With --detach it runs on without you: `cloche workspace logs` shows it, `cloche workspace kill` ends it, and as long as it runs the workspace does not expire.",
  positionals: [WORKSPACE],
  options: {
    cwd: CWD,
    env: ENV,
    "secret-env": SECRET_ENV,
    interactive: INTERACTIVE,
    tty: TTY,
    detach: { type: "boolean", short: "d", description: "Start it in the background and print its number" },
    "timeout-seconds": {
      ...TIMEOUT_SECONDS,
      description: "End the command after this time (default: 30; a day with --tty or --detach)",
    },
  },
  takesCommand: true,
  examples: [
    "cloche workspace exec ws-4 -- npm test",
    "cloche workspace exec -it ws-4 bash",
    "cloche workspace exec ws-4 --cwd src -e CI=1 --timeout-seconds 300 -- make -j2",
    "cloche workspace exec ws-4 --secret-env TOKEN=NPM_TOKEN -- npm publish --dry-run",
    "tar c src | cloche workspace exec ws-4 -- tar x",
    "cloche workspace exec -d ws-4 -- npm run build",
  ],
  async run(context) {
    const { values, command: words } = context;
    const id = context.argument("ID");
    const shared = { command: [...words], cwd: values.cwd, secret_env: toRecord(values["secret-env"]) };
    if (values.detach) {
      if (values.tty || values.interactive)
        throw usageError(this.words, "Cannot use --detach with --tty or --interactive", "Nobody sits at it.");
      const env = variablesOf(context.io, { env: values.env, words: this.words });
      return await detach(context, id, { ...shared, env, timeout_seconds: values["timeout-seconds"] });
    }
    const client = await context.connect();
    return await runSession(context, {
      words: this.words,
      tty: values.tty,
      interactive: values.interactive,
      env: values.env,
      timeoutSeconds: values["timeout-seconds"],
      open: (request) => Promise.resolve(client.openCommand(id, { ...request, ...shared })),
    });
  },
});

async function detach(context: Context, id: string, options: ExecOptions): Promise<number> {
  const started = await (await context.connect()).startCommand(id, options);
  const { workspace_id: workspace, sequence } = started;
  const next = [
    `Its output: ${context.io.program} workspace logs ${workspace}`,
    `To end it:  ${context.io.program} workspace kill ${workspace} ${sequence}`,
  ].map((line) => context.colours.dim(line));
  await context.print(started, () => [String(sequence), ...next].join("\n"));
  return 0;
}
