import { type ClocheError, isClocheError } from "../../base/errors.ts";
import { toErrorDocument } from "../../model/error-codes.ts";
import type { DeletedWorkspace } from "../../model/workspace.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { type Context, defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { usageError } from "../arguments/usage-error.ts";
import { reportError } from "../output/error-output.ts";
import { escapeName } from "../output/escape.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";

/** So many are named before they go. */
const NAMED = 5;
const AT_ONCE = 4;

export const command = defineCommand({
  words: ["workspace", "delete"],
  summary: "Delete workspaces and all that is in them",
  description:
    "`cloche rm` is short for it. Of several, those that can be deleted are, and the exit code is 1 when one could not.",
  positionals: [{ ...WORKSPACE, optional: true, multiple: true }],
  options: {
    all: { type: "boolean", description: "All of them, also those that are kept or have expired" },
    yes: { type: "boolean", short: "y", description: "Do not ask, with --all" },
  },
  examples: [
    "cloche workspace delete ws-4",
    "cloche workspace delete first second",
    "cloche workspace delete --all --yes",
  ],
  async run(context) {
    const { all, yes } = context.values;
    if (all === context.words.length > 0)
      throw all
        ? usageError(this.words, "Cannot use --all together with an ID", "Leave one of them out.")
        : usageError(
            this.words,
            "Missing ID",
            "`cloche workspace list` shows the ids and names; --all takes all of them.",
          );
    const client = await context.connect();
    if (!all && context.words.length === 1) {
      const deleted = await client.deleteWorkspace(context.argument("ID"));
      await context.print(deleted, () => `Deleted ${deleted.workspace_id}`);
      return 0;
    }
    const words = all ? await allOf(context, client, yes, this.words) : [...new Set(context.words)];
    if (words === "left") return 1;
    return await deleteEach(context, client, words);
  },
});

/** The ids of all there are, when whoever asked means it. */
async function allOf(
  context: Context,
  client: Cloche,
  yes: boolean,
  words: readonly string[],
): Promise<readonly string[] | "left"> {
  if (!yes && (context.json || !canAsk(context.io)))
    throw usageError(words, "Cannot ask whether all workspaces are to be deleted", "Give --yes.");
  const { workspaces } = await client.listWorkspaces();
  const ids = workspaces.map(({ workspace_id: id }) => id);
  if (ids.length === 0 && !context.json) context.note("No workspaces");
  if (yes || ids.length === 0) return ids;
  const shown = workspaces.slice(0, NAMED).map(({ name, workspace_id: id }) => escapeName(name ?? id));
  const more = ids.length > NAMED ? ", …" : "";
  const what = ids.length === 1 ? "the workspace" : `all ${ids.length} workspaces`;
  if (await confirm(context.io, `Delete ${what} (${shown.join(", ")}${more}) and what is in them?`)) return ids;
  context.note("Nothing was deleted");
  return "left";
}

/** A few at a time; what fails holds up nothing else. */
async function deleteEach(context: Context, client: Cloche, words: readonly string[]): Promise<number> {
  const deleted: DeletedWorkspace[] = [];
  const failed: { workspace: string; error: ClocheError }[] = [];
  const rest = words.values();
  const work = async () => {
    for (const word of rest) {
      try {
        deleted.push(await client.deleteWorkspace(word));
      } catch (error) {
        if (!isClocheError(error)) throw error;
        failed.push({ workspace: word, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { io, json, verbose } = context;
  if (!json) for (const { error } of failed) await reportError(error, { io, json, verbose });
  const told = failed.map(({ workspace, error }) => ({ workspace, ...toErrorDocument(error) }));
  const document = { count: deleted.length, workspaces: deleted, failed: told };
  await context.print(document, () => deleted.map(({ workspace_id: id }) => `Deleted ${id}`).join("\n"));
  return failed.length === 0 ? 0 : 1;
}
