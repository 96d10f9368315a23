import type { AgentTask, Provider } from "../model/provider.ts";
import { jsonFile, textFile } from "./provided-file.ts";
import { checkSettings, textSetting, textsSetting } from "./settings.ts";

const KEY = "CODEX_API_KEY";

/** Without these it asks more hosts than its model's. */
const QUIET = [
  ...["check_for_update_on_startup=false", "analytics.enabled=false", 'otel.metrics_exporter="none"'].flatMap(
    (pair) => ["-c", pair],
  ),
  ...["plugins", "apps", "api_key_model_discovery", "remote_plugin"].flatMap((feature) => ["--disable", feature]),
];

/** What these facts were seen with, and what is installed where a sandbox does not have the host's own. */
const VERSION = "0.166.0";

/** Codex with an API key. A ChatGPT login needs hosts that its server names, which no policy can list: it is not supported. */
export const codex: Provider = {
  name: "codex",
  summary: "Codex, with an API key",
  skills_folder: ".cloche/skills",
  takes_lines: true,
  error_shape: "openai",
  check: (choice) => checkSettings(choice, { model: "text", args: "texts" }),
  checkToken: (_, value) =>
    value.startsWith("{") || value.startsWith("eyJ") ? "it is a ChatGPT login; an API key is needed" : undefined,
  program: () => ({
    command: "codex",
    // One package with a version for each processor, which its wrapper installs under names of their own.
    packages: {
      x64: {
        name: "@openai/codex",
        version: `${VERSION}-linux-x64`,
        integrity: "sha512-CxDm3+D1cpbGJeHrdzINoG+3wn9BVncP4qpZaaNYkxe8iPtRJOYyCJnnPoVjWRIBvI9vPKbRoifsMSA5xDaUpw==",
        file: "vendor/x86_64-unknown-linux-musl/bin/codex",
        installed_as: "@openai/codex-linux-x64",
      },
      arm64: {
        name: "@openai/codex",
        version: `${VERSION}-linux-arm64`,
        integrity: "sha512-w0ScAsBr9aZKtIFrh6HN6KU2yjKKeSCzYfbb7DB0Ccj4BYPzeZtUeQprbycLCwuX3AFQdbdjapmLho2iot74jQ==",
        file: "vendor/aarch64-unknown-linux-musl/bin/codex",
        installed_as: "@openai/codex-linux-arm64",
      },
    },
    places: ["~/.local/bin/codex"],
    install: "npm install --global @openai/codex",
    interpreter: null,
  }),
  credentials: ({ auth_token: ref }) => (ref === null ? [] : [{ token_ref: ref, variable: KEY }]),
  routes: ({ auth_token: ref }) => [
    { host: "api.openai.com", ...(ref !== null && { auth: { scheme: "Bearer", token_ref: ref } }) },
  ],
  env: () => ({}),
  files: (task) => [
    textFile(`${task.home}/.codex/config.toml`, `[projects.${JSON.stringify(task.cwd)}]\ntrust_level = "trusted"\n`),
    // `exec` reads the variable; the terminal's program reads this file.
    ...(task.stand_ins[KEY] === undefined
      ? []
      : [jsonFile(`${task.home}/.codex/auth.json`, { auth_mode: "apikey", OPENAI_API_KEY: task.stand_ins[KEY] })]),
    ...(task.prompt_file === null ? [] : [textFile(`${task.home}/.codex/AGENTS.md`, task.instructions)]),
  ],
  argv(task) {
    const model = textSetting(task.choice, "model");
    return [
      "codex",
      ...subcommand(task),
      "--dangerously-bypass-approvals-and-sandbox",
      ...QUIET,
      ...(task.supervise_url === null ? [] : ["-c", `mcp_servers.supervise.url=${JSON.stringify(task.supervise_url)}`]),
      ...(model === undefined ? [] : ["--model", model]),
      ...textsSetting(task.choice, "args"),
      ...(task.prompt === null ? [] : ["--", task.prompt]),
    ];
  },
};

function subcommand({ headless, session: { resume } }: AgentTask): string[] {
  if (!resume) return headless ? ["exec", "--skip-git-repo-check"] : [];
  return headless
    ? ["exec", "resume", "--last", "--skip-git-repo-check"]
    : ["resume", "--last", "--include-non-interactive"];
}
