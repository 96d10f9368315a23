import { defineCommand } from "../command.ts";
import { findCandidates, FILES } from "../completion/candidates.ts";

export const command = defineCommand({
  words: ["__complete"],
  summary: "Print what could come next",
  positionals: [
    { name: "WORD", description: "The words so far; the last is the one to complete", optional: true, multiple: true },
  ],
  options: {},
  examples: [],
  async run(context) {
    const found = await findCandidates(context.tree, context.words, () => context.connect());
    const lines = found === FILES ? [":files"] : found.map(({ text, description }) => `${text}\t${description}`);
    await context.print({ candidates: found === FILES ? [] : found, files: found === FILES }, () => lines.join("\n"));
    return 0;
  },
});
