import { failure } from "../../model/error-codes.ts";
import { call, way } from "../../model/hint.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { attachShellHere } from "../terminal/attach-terminal.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { SHELL } from "../arguments/shell-options.ts";

export const command = defineCommand({
  words: ["workspace", "shell", "attach"],
  summary: "Sit down at a shell; Ctrl-] leaves it running",
  description: "Needs a terminal. The shell gets its size. When the shell ends, its exit code is ours.",
  positionals: [
    WORKSPACE,
    { ...SHELL, description: `${SHELL.description} (default: the only one that runs)`, optional: true },
  ],
  options: {},
  examples: ["cloche workspace shell attach ws-4", "cloche workspace shell attach ws-4 sh-1a2b3c4d"],
  async run(context) {
    return await attachShellHere(context, this.words, async (size) => {
      const client = await context.connect();
      const id = context.argument("ID");
      return client.attachShell(id, context.optionalArgument("SHELL") ?? (await onlyShell(client, id)), size);
    });
  },
});

/** Whoever has left a shell need not know its id to come back. */
async function onlyShell(client: Cloche, id: string): Promise<string> {
  const { workspace_id, shells } = await client.listShells(id);
  const ids = shells.filter(({ state }) => state === "running").map(({ shell_id: one }) => one);
  const [only, another] = ids;
  if (only !== undefined && another === undefined) return only;
  if (only === undefined)
    throw failure("SHELL_NOT_FOUND", `No shell runs in workspace ${workspace_id}`, {
      hint: [way`Open one with ${call("openShell", { workspace_id })}`],
    });
  throw failure("SHELL_AMBIGUOUS", `Several shells run in workspace ${workspace_id}: ${ids.join(", ")}`, {
    hint: [way`Name one of them: ${call("attachShell", { workspace_id, shell_id: only })}`],
  });
}
