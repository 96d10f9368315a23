import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { PROJECT } from "./installation.ts";

/** Where `scripts/setup --tests` has put the real agents and the tools of the protocol. */
export const agentsFolder = (): string => testPackages("agents");

/** The packages of `test/KIND/package.json`. */
export const testPackages = (kind: "agents" | "model-clients" | "tools"): string =>
  join(installed(kind, `test/${kind}/package.json`), "node_modules");

/** Made by `scripts/setup --tests` from a file of the project, and named after what is in that. */
function installed(kind: string, source: string): string {
  const digest = createHash("sha256")
    .update(readFileSync(join(PROJECT, source)))
    .digest("hex");
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const folder = join(cache, "cloche-tests", `${kind}-${digest.slice(0, 12)}`);
  if (!existsSync(folder)) throw new Error(`${source} is not installed: run \`scripts/setup --tests\``);
  return folder;
}

export const denoProgram = (): string => join(testPackages("tools"), `@deno/linux-${process.arch}-glibc`, "deno");
/** A static program that asks for a URL. */
export const goProgram = (): string => join(installed("go", "test/fixtures/ask.go"), "ask");

/** Their commands as the registry's packages have them; installing runs no script, so no link to them was made. */
const PROGRAMS = {
  claude: () => agentFile(`@anthropic-ai/claude-code-linux-${process.arch}/claude`),
  codex: () => agentFile("@openai/codex/bin/codex.js"),
  gemini: () => agentFile("@google/gemini-cli/bundle/gemini.js"),
  opencode: () => agentFile(`opencode-linux-${process.arch}/bin/opencode`),
} as const;

/** A package that is not for this processor, or could not be had, is left out by npm without a word. */
function agentFile(path: string): string {
  const file = join(agentsFolder(), path);
  if (existsSync(file)) return file;
  throw new Error(`${path} is not installed: remove ${dirname(agentsFolder())} and run \`scripts/setup --tests\``);
}

export type AgentProgram = keyof typeof PROGRAMS;

/** A folder for the PATH that has some of the agents, and one with `node`, without the rest of the machine's own agents. */
export function agentsPath(folder: string, programs: readonly AgentProgram[]): string {
  mkdirSync(folder, { recursive: true });
  for (const program of programs) symlinkSync(PROGRAMS[program](), join(folder, program));
  return [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(":");
}
