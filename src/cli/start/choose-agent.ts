import { createInterface } from "node:readline/promises";
import type { ListedAgent } from "../../model/bottle-plan.ts";
import { failure } from "../../model/error-codes.ts";
import type { Context } from "../command.ts";
import { usageError } from "../arguments/usage-error.ts";
import { canAsk } from "../terminal/confirm.ts";

/** The only agent there is, or the one that whoever sits at the terminal picks. */
export async function chooseAgent(context: Context, words: readonly string[]): Promise<string> {
  const { agents } = await (await context.connect()).listAgents({ project_path: context.io.cwd });
  const usable = agents.filter(({ problem }) => problem === null);
  const [only, second] = usable;
  if (!only) {
    const [broken] = agents;
    // Its plan tells what is wrong, and in which file: it may be that of its bottle.
    if (broken) return broken.name;
    throw failure("AGENT_NOT_FOUND", "There is no agent yet", {
      hint: "Make a first bottle and a first agent with `cloche init`",
    });
  }
  if (!second) return only.name;
  const names = usable.map(({ name }) => name).join(", ");
  if (context.json || !canAsk(context.io)) throw usageError(words, `Missing AGENT: one of ${names}`);
  return await pick(context, usable, words);
}

async function pick(
  { io: { stdin, stderr } }: Context,
  agents: readonly ListedAgent[],
  words: readonly string[],
): Promise<string> {
  for (const [index, { name, bottle }] of agents.entries())
    stderr.write(`  ${index + 1}  ${name} in ${bottle ?? "-"}\n`);
  stderr.write("Which agent? ");
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    for await (const line of lines) {
      const word = line.trim();
      const picked = agents[Number(word) - 1] ?? agents.find(({ name }) => name === word);
      if (picked) return picked.name;
      break;
    }
  } finally {
    lines.close();
  }
  throw usageError(words, "No agent was chosen");
}
