import type { Route } from "../model/egress.ts";
import type { AgentTask, Provider, ProviderChoice } from "../model/provider.ts";
import { jsonFile } from "./provided-file.ts";
import { checkSettings, textSetting, textsSetting } from "./settings.ts";

/** An API key and an OAuth token go to the same host in different headers. */
const KINDS = {
  oauth: { variable: "CLAUDE_CODE_OAUTH_TOKEN", scheme: "Bearer", header: undefined },
  api_key: { variable: "ANTHROPIC_API_KEY", scheme: "ApiKey", header: "x-api-key" },
} as const;

type Kind = keyof typeof KINDS;

/** As said, else by the name of the variable, else a token of a subscription. */
function kindOf(choice: ProviderChoice): Kind {
  const said = textSetting(choice, "auth");
  if (said === "oauth" || said === "api_key") return said;
  return choice.auth_token?.endsWith("API_KEY") ? "api_key" : "oauth";
}

/** It asks once about an API key, and remembers the answer by the last characters of the key. */
const REMEMBERED_CHARACTERS = 20;

/** What these facts were seen with, and what is installed where a sandbox does not have the host's own. */
const VERSION = "2.1.325";

/** Claude Code. */
export const claude: Provider = {
  name: "claude",
  summary: "Claude Code",
  skills_folder: ".claude/skills",
  takes_lines: true,
  error_shape: "anthropic",
  check: (choice) => checkSettings(choice, { auth: Object.keys(KINDS), model: "text", args: "texts" }),
  checkToken(choice, value) {
    const looksLike: Kind | undefined = value.startsWith("sk-ant-api")
      ? "api_key"
      : value.startsWith("sk-ant-oat")
        ? "oauth"
        : undefined;
    if (looksLike === undefined || looksLike === kindOf(choice)) return undefined;
    return `it is ${looksLike === "api_key" ? "an API key" : "an OAuth token"}: set agent_provider.settings.auth to ${looksLike}`;
  },
  program: () => ({
    command: "claude",
    // The wrapper package wants a newer Node.js and an install script; the binary of the platform's package wants neither.
    packages: {
      x64: {
        name: "@anthropic-ai/claude-code-linux-x64",
        version: VERSION,
        integrity: "sha512-BqZzMvP/zgLLL34S+7OzbG+cyoFp7gwWHU5koVwsyMlTAz+0zZAmbY+UkzvtN2RXxp6AcMenbYIjQJxoXfUY3w==",
        file: "claude",
      },
      arm64: {
        name: "@anthropic-ai/claude-code-linux-arm64",
        version: VERSION,
        integrity: "sha512-NCvQcOxr685Y4mkYUjQT8l/Ouzw0k2xWloWeyzfsUtWiOedHosPkaW6XCSpzAl1dMuvDNBF97qpWgVDrSdK2Vw==",
        file: "claude",
      },
    },
    places: ["~/.local/bin/claude", "~/.claude/local/claude"],
    install: "npm install --global @anthropic-ai/claude-code",
    interpreter: null,
  }),
  credentials: (choice) =>
    choice.auth_token === null ? [] : [{ token_ref: choice.auth_token, variable: KINDS[kindOf(choice)].variable }],
  routes: (choice) => [apiRoute(choice)],
  env: (task) => ({
    // Else it shows a server's tools to a model that has searched for them, and who is stuck does not search.
    ...(task.supervise_url !== null && { ENABLE_TOOL_SEARCH: "false" }),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: "1",
    DISABLE_AUTOUPDATER: "1",
  }),
  files: (task) => [
    jsonFile(`${task.home}/.claude.json`, {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: approvedKeys(task), rejected: [] },
      projects: { [task.cwd]: { hasTrustDialogAccepted: true } },
    }),
    jsonFile(`${task.home}/.claude/settings.json`, { skipDangerousModePermissionPrompt: true }),
    ...(task.supervise_url === null
      ? []
      : [jsonFile(mcpConfig(task), { mcpServers: { supervise: { type: "http", url: task.supervise_url } } })]),
  ],
  argv(task) {
    const model = textSetting(task.choice, "model");
    return [
      "claude",
      "--dangerously-skip-permissions",
      ...(task.session.resume ? ["--resume", task.session.id] : ["--session-id", task.session.id]),
      ...(task.prompt_file === null ? [] : ["--append-system-prompt-file", task.prompt_file]),
      ...(model === undefined ? [] : ["--model", model]),
      // What a project brings of its own would be started on the word of its authors.
      ...(task.supervise_url === null ? [] : ["--mcp-config", mcpConfig(task)]),
      "--strict-mcp-config",
      ...(task.headless ? ["--print"] : []),
      ...textsSetting(task.choice, "args"),
      ...(task.prompt === null ? [] : ["--", task.prompt]),
    ];
  },
};

function apiRoute(choice: ProviderChoice): Route {
  const { scheme, header } = KINDS[kindOf(choice)];
  const auth =
    choice.auth_token === null ? undefined : { scheme, token_ref: choice.auth_token, ...(header && { header }) };
  return { host: "api.anthropic.com", ...(auth && { auth }) };
}

const mcpConfig = (task: AgentTask): string => `${task.home}/.cloche/mcp.json`;

function approvedKeys({ stand_ins: standIns }: AgentTask): string[] {
  const key = standIns[KINDS.api_key.variable];
  return key === undefined ? [] : [key.slice(-REMEMBERED_CHARACTERS)];
}
