import { spawn } from "node:child_process";
import { once } from "node:events";
import { failure } from "../../model/error-codes.ts";
import { type Context, defineCommand } from "../command.ts";
import { wantsColour } from "../output/colour.ts";
import { openEditor } from "../terminal/open-editor.ts";
import { terminalSize } from "../terminal/terminal-size.ts";

export const command = defineCommand({
  words: ["supervise"],
  summary: "Answer what agents ask for, at a terminal",
  description:
    "Shows the proposals that wait, as they come, and the runs. A proposal is looked at, then approved once, for its run or into the bottle's file, changed in your editor, " +
    "or rejected with a reason. The editor is $VISUAL, else $EDITOR, else vi. `?` shows the keys. Quitting leaves agents and proposals as they are.",
  positionals: [],
  options: {},
  examples: ["cloche supervise", "EDITOR=nano cloche supervise"],
  async run(context) {
    const { io } = context;
    requireScreen(context);
    const client = await context.connect();
    // On demand: what draws the screen is loaded by nothing else.
    const { supervise } = await import("../../tui/supervise.ts");
    return await supervise(client, {
      terminal: io,
      size: () => terminalSize(io.stdout),
      hasColour: wantsColour(io.stdout, io.env),
      onSignal: (handler) => io.onSignal(handler),
      openEditor: (path) => openEditor(io, path),
      attach: (identity) => attach(context, identity),
    });
  },
});

function requireScreen({ io, json }: Context): void {
  const hint = "Answer them without one: `cloche approvals list`, then `cloche approvals show ID`";
  if (json) throw failure("USAGE", "Cannot show a screen with --json", { hint });
  if (io.stdin.isTTY !== true || io.stdout.isTTY !== true)
    throw failure("USAGE", "Cannot show a screen: standard input and output are not a terminal", { hint });
  if (io.env["TERM"] === "dumb") throw failure("USAGE", "Cannot show a screen on a terminal that is dumb", { hint });
}

/** In a program of its own: how it takes keys is not how a screen does. What it has to say is on the terminal when it ends. */
async function attach({ io }: Context, identity: string): Promise<void> {
  const program = process.argv[1] ?? "";
  const child = spawn(process.execPath, [program, "attach", identity], { stdio: "inherit", env: io.env });
  await once(child, "exit");
}
