import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { agentsPath } from "./agents.ts";
import { runProcess, type CliResult, type Installation } from "./installation.ts";
import type { ScriptedApi } from "./scripted-api/scripted-api.ts";

/** How an agent is told to work without a person, and where its model is. */
const COMMANDS = {
  claude: (_: string, prompt: string) => ["-p", "--dangerously-skip-permissions", prompt],
  codex: (api: string, prompt: string) => [
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "-c",
    `model_providers.scripted={name="scripted",base_url="${api}/v1",env_key="SCRIPTED_KEY",wire_api="responses"}`,
    "-c",
    'model_provider="scripted"',
    "-c",
    'model="scripted"',
    prompt,
  ],
} as const;

/** The agents that are hosts here, too. */
export type HostAgent = keyof typeof COMMANDS;

/** A real agent with a home of its own, and nothing in its environment but what it needs: no word of cloche either. */
export class AgentSession {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #program: HostAgent;

  constructor(at: Installation, program: HostAgent) {
    this.#program = program;
    this.home = at.path("user");
    mkdirSync(this.home);
    this.env = { HOME: this.home, PATH: agentsPath(join(at.root, "bin"), [program]), LANG: "C.UTF-8" };
  }

  /** Gives it one task and waits for its end. */
  async run(api: ScriptedApi, options: { cwd: string; prompt: string }): Promise<CliResult> {
    return await runProcess(this.#program, COMMANDS[this.#program](api.url, options.prompt), {
      cwd: options.cwd,
      env: {
        ...this.env,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: "scripted",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ENABLE_TOOL_SEARCH: "false", // else it offers tools of servers to a model that has searched for them, and a script does not
        MCP_CONNECTION_NONBLOCKING: "false", // else its first request goes out without the tools of servers that take longer than some seconds
        MCP_CONNECT_TIMEOUT_MS: "60000",
        IS_SANDBOX: "1", // as root it wants to hear that this is no one's machine
        SCRIPTED_KEY: "scripted",
      },
    });
  }
}
