import { defineCommand } from "../command.ts";
import { formatHelp, helpDocument, helpWidth } from "../help.ts";
import { resolveCommand } from "../resolve-command.ts";
import { usageError } from "../arguments/usage-error.ts";

export const command = defineCommand({
  words: ["help"],
  summary: "Show help about a command",
  positionals: [
    { name: "COMMAND", description: "The command's words", optional: true, multiple: true, completes: "command-words" },
  ],
  options: {},
  examples: ["cloche help", "cloche help workspace create"],
  async run(context) {
    const resolution = resolveCommand(context.tree, context.words);
    if (resolution.kind === "command" && resolution.rest.length > 0) {
      throw usageError(this.words, `Unexpected argument "${resolution.rest.join(" ")}"`);
    }
    const document = await helpDocument(
      context.tree,
      resolution.kind === "command" ? resolution.entry.words : resolution.words,
    );
    await context.print(document, () => formatHelp(document, context.colours, helpWidth(context.io.stdout)));
    return 0;
  },
});
