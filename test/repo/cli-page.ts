import { findCommand } from "../../src/cli/command-tree.ts";
import { helpDocument, type HelpDocument } from "../../src/cli/help.ts";
import { COMMAND_TREE } from "../../src/cli/registry.ts";

const HEAD = `# Command line

Every command, as \`cloche help\` tells it. In a checkout type \`npx cloche\` for \`cloche\`, or put it on your PATH with \`npm link\`.

- stdout carries the result, stderr progress and notes. With \`--json\` stdout is one JSON document, also when the command fails.
- A workspace's id may be shortened to its first characters, as long as they fit one workspace only.
- What comes after \`--\` is the command to run in the sandbox, and is passed on as it is.
- Exit codes and error codes are a [closed list](errors.md). Variables and defaults are in [configuration](configuration.md).
- \`cloche --version\` prints the version.
- \`eval "$(cloche completion bash)"\` completes commands, options, ids and names as you type; zsh and fish are there too.

This page is written from the commands' own help with \`UPDATE=1 npx vitest run --project unit test/repo/docs.test.ts\`.
`;

/** `docs/cli.md` as it has to be. */
export async function renderCliPage(): Promise<string> {
  const top = await helpDocument(COMMAND_TREE, []);
  const pages = await Promise.all(top.commands.map(({ name }) => renderBelow([name])));
  const everywhere = renderOptions(top.global_options.filter(({ flag }) => flag !== "--version"));
  return [HEAD, `## Options of every command\n\n${everywhere}`, ...pages.flat()].join("\n");
}

/** The section of a command, or those of a group and of all that is below it. */
async function renderBelow(words: readonly string[]): Promise<string[]> {
  const help = await helpDocument(COMMAND_TREE, words);
  if (findCommand(COMMAND_TREE, words)) return [renderCommand(help, words.length === 1)];
  const below = await Promise.all(help.commands.map(({ name }) => renderBelow([...words, name])));
  const own = words.length === 1 ? [`## ${help.command}\n\n${sentences(help)}\n`] : [];
  return [...own, ...below.flat()];
}

function renderCommand(help: HelpDocument, alone: boolean): string {
  const values = help.arguments.map(({ name, description }) => `| \`${name}\` | ${cell(description)} |\n`);
  return [
    `${alone ? "##" : "###"} ${help.command}\n`,
    `${sentences(help)}\n`,
    `\`\`\`text\n${help.usage}\n\`\`\`\n`,
    ...(values.length === 0 ? [] : [`| argument | |\n|---|---|\n${values.join("")}`]),
    ...(help.options.length === 0 ? [] : [renderOptions(help.options)]),
    `\`\`\`sh\n${help.examples.join("\n")}\n\`\`\`\n`,
  ].join("\n");
}

const sentences = ({ summary, description }: HelpDocument): string =>
  [`${summary}.`, ...(description === null ? [] : [/[.!?]$/.test(description) ? description : `${description}.`])].join(
    " ",
  );

type HelpOption = HelpDocument["global_options"][number] & { value?: string | null; required?: boolean };

function renderOptions(options: readonly HelpOption[]): string {
  const rows = options.map(({ flag, short, value, required, description }) => {
    const names = [...(short === null ? [] : [short]), flag].join("`, `");
    return `| \`${names}${value ? ` ${value}` : ""}\` | ${cell(description)}${required ? " (required)" : ""} |\n`;
  });
  return `| option | |\n|---|---|\n${rows.join("")}`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
