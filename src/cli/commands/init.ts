import { findProgram } from "../../hosts/find-program.ts";
import type { ManifestStarted } from "../../model/bottle-plan.ts";
import { defineCommand } from "../command.ts";
import type { CliIo } from "../io.ts";

/** Which variables people have a credential in, by provider. */
const CREDENTIALS = [
  ["claude", ["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY"]],
  ["codex", ["CODEX_API_KEY", "OPENAI_API_KEY"]],
  ["gemini", ["GEMINI_API_KEY"]],
] as const;

export const command = defineCommand({
  words: ["init"],
  summary: "Write a first bottle and a first agent",
  description:
    "They work as they are: with the agent that is installed here and has a credential in your environment, or with a shell where there is none. Files that are there are left as they are.",
  positionals: [],
  options: {
    provider: {
      type: "string",
      value: "PROVIDER",
      description: "Which agent works in the bottle (default: what is found here)",
      choices: ["claude", "codex", "opencode", "gemini", "command"],
    },
  },
  examples: ["cloche init", "cloche init --provider claude"],
  async run(context) {
    const { io, values } = context;
    const found =
      values.provider === undefined
        ? findAgent(io)
        : { provider: values.provider, auth_token: variableOf(values.provider, io) };
    const started = await (await context.connect()).initManifest(found);
    await context.print(started, () => formatStarted(started, io.program));
    return 0;
  },
});

/** The first that could work here. */
function findAgent(io: CliIo): { provider: string; auth_token: string | undefined } {
  for (const [provider] of CREDENTIALS) {
    const variable = variableOf(provider, io);
    if (variable !== undefined && findProgram(provider, io.env) !== undefined)
      return { provider, auth_token: variable };
  }
  return { provider: "command", auth_token: undefined };
}

const variableOf = (provider: string, { env }: CliIo): string | undefined =>
  CREDENTIALS.find(([name]) => name === provider)?.[1].find((variable) => env[variable]);

function formatStarted({ agent, written, kept }: ManifestStarted, program: string): string {
  return [
    ...written.map((path) => `Wrote ${path}`),
    ...kept.map((path) => `Kept ${path}, which was there`),
    "",
    "Next:",
    `  ${program} start ${agent} --dry-run  shows what it would do`,
    `  ${program} start ${agent} --cwd      does it in a copy of the current folder`,
  ].join("\n");
}
