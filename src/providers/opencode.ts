import type { Route, RouteAuth } from "../model/egress.ts";
import type { Provider, ProviderChoice } from "../model/provider.ts";
import { jsonFile, textFile } from "./provided-file.ts";
import { checkSettings, textSetting, textsSetting } from "./settings.ts";

interface Vendor {
  readonly host: string;
  readonly variable: string;
  readonly auth: (tokenRef: string) => RouteAuth;
}

/** Whose models it can use here, by the first part of `settings.model`. */
const VENDORS: Readonly<Record<string, Vendor>> = {
  anthropic: {
    host: "api.anthropic.com",
    variable: "ANTHROPIC_API_KEY",
    auth: (token_ref) => ({ scheme: "ApiKey", token_ref, header: "x-api-key" }),
  },
  openai: {
    host: "api.openai.com",
    variable: "OPENAI_API_KEY",
    auth: (token_ref) => ({ scheme: "Bearer", token_ref }),
  },
  google: {
    host: "generativelanguage.googleapis.com",
    variable: "GOOGLE_GENERATIVE_AI_API_KEY",
    auth: (token_ref) => ({ scheme: "ApiKey", token_ref, header: "x-goog-api-key" }),
  },
};

function vendorOf(choice: ProviderChoice): Vendor | undefined {
  const name = textSetting(choice, "model")?.split("/", 1)[0] ?? "";
  return Object.hasOwn(VENDORS, name) ? VENDORS[name] : undefined;
}

/** What these facts were seen with, and what is installed where a sandbox does not have the host's own. */
const VERSION = "1.18.18";

/** opencode with a vendor's API key. */
export const opencode: Provider = {
  name: "opencode",
  summary: "opencode, with an API key of a vendor",
  skills_folder: ".cloche/skills",
  takes_lines: true,
  // One program for several vendors: a plain refusal is understood by all of its clients.
  error_shape: null,
  check(choice) {
    const problem = checkSettings(choice, { model: "text", args: "texts" });
    if (problem !== undefined || vendorOf(choice) !== undefined) return problem;
    return `"settings.model" must be VENDOR/MODEL, with a vendor of ${Object.keys(VENDORS).join(", ")}`;
  },
  program: () => ({
    command: "opencode",
    packages: {
      x64: {
        name: "opencode-linux-x64",
        version: VERSION,
        integrity: "sha512-WmeUnhljYJ252wywKTiW4bNDzsas2njpjPUEh0jM6HKNI4vFxJtREtzaWViY4AKEAcOkLWT8Ll17ixvcHz3AnA==",
        file: "bin/opencode",
      },
      arm64: {
        name: "opencode-linux-arm64",
        version: VERSION,
        integrity: "sha512-e8D3g0qJEIzawEg2+ygW3vkZjAYL2ssyAx4GbihjwXwZFvlZZy5zRWWzdz5KLBoHSTl0FB73vNtnNeXONyHpVQ==",
        file: "bin/opencode",
      },
    },
    places: ["~/.opencode/bin/opencode"],
    install: "npm install --global opencode-ai",
    interpreter: null,
  }),
  credentials(choice) {
    const vendor = vendorOf(choice);
    return vendor && choice.auth_token !== null ? [{ token_ref: choice.auth_token, variable: vendor.variable }] : [];
  },
  routes(choice): Route[] {
    const vendor = vendorOf(choice);
    if (!vendor) return [];
    return [{ host: vendor.host, ...(choice.auth_token !== null && { auth: vendor.auth(choice.auth_token) }) }];
  },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  files: (task) => [
    jsonFile(`${task.home}/.config/opencode/opencode.json`, {
      model: textSetting(task.choice, "model"),
      autoupdate: false,
      share: "disabled",
      permission: { edit: "allow", bash: "allow", webfetch: "allow" },
      ...(task.supervise_url !== null && {
        // A call may wait for the operator, longer than it would bear.
        mcp: { supervise: { type: "remote", url: task.supervise_url, enabled: true, timeout: 60_000 } },
      }),
    }),
    // It installs a package for plugins beside its configuration, from the registry, unless it finds that there.
    jsonFile(`${task.home}/.config/opencode/package-lock.json`, {
      packages: { "": { dependencies: { "@opencode-ai/plugin": VERSION } } },
    }),
    textFile(`${task.home}/.config/opencode/node_modules/.keep`, ""),
    ...(task.prompt_file === null ? [] : [textFile(`${task.home}/.config/opencode/AGENTS.md`, task.instructions)]),
  ],
  argv: (task) => [
    "opencode",
    ...(task.headless ? ["run"] : []),
    ...(task.session.resume ? ["--continue"] : []),
    ...textsSetting(task.choice, "args"),
    ...(task.prompt === null ? [] : task.headless ? ["--", task.prompt] : ["--prompt", task.prompt]),
  ],
};
