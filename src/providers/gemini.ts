import type { Provider } from "../model/provider.ts";
import { jsonFile, textFile } from "./provided-file.ts";
import { checkSettings, textSetting, textsSetting } from "./settings.ts";

/** Gemini CLI with an API key. By its documentation, version 0.61. */
export const gemini: Provider = {
  name: "gemini",
  summary: "Gemini CLI, with an API key",
  skills_folder: ".cloche/skills",
  error_shape: "google",
  check: (choice) => checkSettings(choice, { model: "text", args: "texts" }),
  program: () => ({
    command: "gemini",
    packages: {
      x64: { name: "@google/gemini-cli", file: "bundle/gemini.js" },
      arm64: { name: "@google/gemini-cli", file: "bundle/gemini.js" },
    },
    version: "0.61.0",
    interpreter: "node",
  }),
  credentials: ({ auth_token: ref }) => (ref === null ? [] : [{ token_ref: ref, variable: "GEMINI_API_KEY" }]),
  routes: ({ auth_token: ref }) => [
    {
      host: "generativelanguage.googleapis.com",
      ...(ref !== null && { auth: { scheme: "ApiKey", token_ref: ref, header: "x-goog-api-key" } }),
    },
  ],
  env: () => ({ GEMINI_CLI_TRUST_WORKSPACE: "true" }),
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
      ...(task.session.resume ? ["--resume", "latest"] : []),
      ...(model === undefined ? [] : ["--model", model]),
      ...textsSetting(task.choice, "args"),
      // With an equals sign, so that a task may begin with a dash.
      ...(task.prompt === null ? [] : [`${task.headless ? "--prompt" : "--prompt-interactive"}=${task.prompt}`]),
    ];
  },
};
