import { failure } from "../../model/error-codes.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { unknownName, usageError } from "../arguments/usage-error.ts";
import { type Context, defineCommand } from "../command.ts";
import { canAsk, confirm } from "../terminal/confirm.ts";
import { openEditor } from "../terminal/open-editor.ts";

interface Definition {
  readonly kind: "agent" | "bottle";
  readonly name: string;
  readonly path: string;
  readonly problem: string | null;
}

export const command = defineCommand({
  words: ["edit"],
  summary: "Open a bottle or an agent in your editor, and check it",
  description:
    "The editor is $VISUAL, else $EDITOR, else vi. Where a bottle and an agent have one name, say bottles/NAME or agents/NAME.",
  positionals: [
    { name: "NAME", description: "The bottle's or the agent's name, as in `cloche list`", completes: "definition" },
  ],
  options: {},
  examples: ["cloche edit dev", "EDITOR=nano cloche edit agents/reviewer"],
  async run(context) {
    const client = await context.connect();
    const name = context.argument("NAME");
    const before = await findDefinition(context, client, name, this.words);
    for (;;) {
      await openEditor(context.io, before.path);
      const { problem } = await findDefinition(context, client, `${before.kind}s/${before.name}`, this.words);
      if (problem === null) {
        await context.print({ ...before, problem }, () => `${before.path} is right`);
        return 0;
      }
      if (context.json || !canAsk(context.io)) throw stillWrong(problem, name);
      context.note(problem);
      if (!(await confirm(context.io, "Open it again?"))) throw stillWrong(problem, name);
    }
  },
});

/** By the name that was typed: the file is known by it. */
const stillWrong = (problem: string, name: string): Error =>
  failure("MANIFEST_INVALID", problem, { hint: `\`cloche edit ${name}\` opens it and checks it again` });

async function findDefinition(
  context: Context,
  client: Cloche,
  word: string,
  words: readonly string[],
): Promise<Definition> {
  const { agents, bottles } = await client.listAgents({ project_path: context.io.cwd });
  const all: Definition[] = [
    ...agents.flatMap(({ name, path, problem }) =>
      path === null ? [] : [{ kind: "agent" as const, name, path, problem }],
    ),
    ...bottles.flatMap(({ name, path, problem }) =>
      path === null ? [] : [{ kind: "bottle" as const, name, path, problem }],
    ),
  ];
  const [one, other] = all.filter(({ kind, name }) => word === name || word === `${kind}s/${name}`);
  if (!one)
    throw unknownName(
      words,
      `There is no bottle and no agent "${word}"`,
      word,
      all.map(({ name }) => name),
    );
  if (other)
    throw usageError(words, `A bottle and an agent are called "${word}"`, `Say bottles/${word} or agents/${word}.`);
  return one;
}
