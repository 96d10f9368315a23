import { describe, expect, it } from "vitest";
import type { AgentTask, ProviderChoice } from "../model/provider.ts";
import { BUILT_IN_PROVIDERS } from "./built-in-providers.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { command } from "./command.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const choice = (settings: Record<string, unknown> = {}, auth_token: string | null = "TOKEN"): ProviderChoice => ({
  auth_token,
  settings,
});
const task = (given: Partial<AgentTask> = {}): AgentTask => ({
  choice: choice(),
  home: "/home/agent",
  cwd: "/workspace",
  instructions: "",
  prompt_file: null,
  prompt: null,
  headless: false,
  session: { id: ID, resume: false },
  stand_ins: {},
  supervise_url: null,
  ...given,
});
const PROMPT = { instructions: "Be careful.\n", prompt_file: "/home/agent/.cloche/prompt.txt" };
const textOf = (files: readonly { path: string; text: string }[], end: string): string =>
  files.find(({ path }) => path.endsWith(end))?.text ?? "";

describe("claude", () => {
  it("bypasses its questions, fixes its session, and gets the prompt's file only when there is a prompt", () => {
    expect(claude.argv(task())).toEqual([
      "claude",
      "--dangerously-skip-permissions",
      "--session-id",
      ID,
      "--strict-mcp-config",
    ]);
    const argv = claude.argv(
      task({
        ...PROMPT,
        headless: true,
        prompt: "-x is a task",
        choice: choice({ model: "opus", args: ["--verbose"] }),
      }),
    );
    expect(argv.join(" ")).toContain("--append-system-prompt-file /home/agent/.cloche/prompt.txt --model opus");
    expect(argv.slice(-4)).toEqual(["--print", "--verbose", "--", "-x is a task"]);
    expect(claude.argv(task({ session: { id: ID, resume: true } }))).toContain("--resume");
  });

  it("puts an OAuth token and an API key into different headers, under different names", () => {
    const oauth = choice({}, "CLAUDE_TOKEN");
    expect(claude.routes(oauth)).toEqual([
      { host: "api.anthropic.com", auth: { scheme: "Bearer", token_ref: "CLAUDE_TOKEN" } },
    ]);
    expect(claude.credentials(oauth)).toEqual([{ token_ref: "CLAUDE_TOKEN", variable: "CLAUDE_CODE_OAUTH_TOKEN" }]);
    for (const key of [choice({ auth: "api_key" }, "K"), choice({}, "MY_API_KEY")]) {
      expect(claude.routes(key)[0]?.auth).toMatchObject({ scheme: "ApiKey", header: "x-api-key" });
      expect(claude.credentials(key)[0]?.variable).toBe("ANTHROPIC_API_KEY");
    }
    expect(claude.checkToken?.(oauth, "sk-ant-api03-xyz")).toContain("settings.auth to api_key");
    expect(claude.checkToken?.(oauth, "sk-ant-oat01-xyz")).toBeUndefined();
  });

  it("asks nothing at its first start: the stand-in counts as approved, the folder as trusted", () => {
    const files = claude.files(task({ stand_ins: { ANTHROPIC_API_KEY: `stand-in-${"x".repeat(30)}-the-end` } }));
    const config = JSON.parse(textOf(files, ".claude.json")) as Record<string, unknown>;
    expect(config).toMatchObject({
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ["xxxxxxxxxxxx-the-end"] },
      projects: { "/workspace": { hasTrustDialogAccepted: true } },
    });
    expect(textOf(files, ".claude/settings.json")).toContain("skipDangerousModePermissionPrompt");
  });

  it("uses the door of supervise where there is one, and no server of the project's", () => {
    const url = "http://127.0.0.1:9100/mcp";
    expect(claude.argv(task({ supervise_url: url })).join(" ")).toContain(
      "--mcp-config /home/agent/.cloche/mcp.json --strict-mcp-config",
    );
    expect(textOf(claude.files(task({ supervise_url: url })), "mcp.json")).toContain(url);
  });
});

describe("every provider", () => {
  it("knows the door of supervise where there is one", () => {
    const url = "http://127.0.0.1:9100/mcp";
    for (const provider of BUILT_IN_PROVIDERS.values()) {
      const told = (supervise_url: string | null) => {
        const one = task({ supervise_url });
        return JSON.stringify([provider.argv(one), provider.env(one), provider.files(one)]);
      };
      expect(told(url), provider.name).toContain("9100/mcp");
      expect(told(null), provider.name).not.toMatch(/9100|supervise/);
    }
  });
});

describe("codex", () => {
  it("goes without questions and without other hosts, and takes up its last session", () => {
    const headless = codex.argv(task({ headless: true, prompt: "fix it" }));
    expect(headless.slice(0, 4)).toEqual([
      "codex",
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
    ]);
    expect(headless).toEqual(
      expect.arrayContaining([
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
        "api_key_model_discovery",
      ]),
    );
    expect(headless.slice(-2)).toEqual(["--", "fix it"]);
    const resumed = { session: { id: ID, resume: true } };
    expect(codex.argv(task({ headless: true, prompt: "go on", ...resumed })).slice(1, 4)).toEqual([
      "exec",
      "resume",
      "--last",
    ]);
    expect(codex.argv(task(resumed)).slice(1, 3)).toEqual(["resume", "--last"]);
  });

  it("has the stand-in in its login file and the instructions where it reads them", () => {
    const files = codex.files(task({ ...PROMPT, stand_ins: { CODEX_API_KEY: "stand-in" } }));
    expect(textOf(files, "auth.json")).toContain('"OPENAI_API_KEY": "stand-in"');
    expect(textOf(files, "AGENTS.md")).toBe("Be careful.\n");
    expect(codex.checkToken?.(choice(), '{"tokens": {}}')).toContain("ChatGPT login");
  });
});

describe("opencode and gemini", () => {
  it("has the hosts and headers of the model's vendor", () => {
    const of = (model: string) => opencode.routes(choice({ model }))[0];
    expect(of("anthropic/x")).toMatchObject({
      host: "api.anthropic.com",
      auth: { scheme: "ApiKey", header: "x-api-key" },
    });
    expect(of("openai/x")).toMatchObject({ host: "api.openai.com", auth: { scheme: "Bearer" } });
    expect(of("google/x")).toMatchObject({ auth: { header: "x-goog-api-key" } });
    expect(opencode.check(choice({ model: "local/x" }))).toContain("anthropic, openai, google");
    expect(opencode.check(choice())).toContain("VENDOR/MODEL");
    expect(gemini.routes(choice())[0]).toMatchObject({ auth: { scheme: "ApiKey", header: "x-goog-api-key" } });
    expect(gemini.argv(task({ headless: true, prompt: "-p" }))).toEqual([
      "gemini",
      "--yolo",
      "--session-id",
      ID,
      "--prompt=-p",
    ]);
    expect(gemini.argv(task({ session: { id: ID, resume: true } }))).toEqual(["gemini", "--yolo", "--resume", ID]);
    expect(textOf(gemini.files(task()), "settings.json")).toContain('"usageStatisticsEnabled": false');
  });
});

describe("command", () => {
  const argv = (words: string[], given: Partial<AgentTask> = {}) =>
    command.argv(task({ choice: choice({ argv: words }, null), ...given }));

  it("fills the task and the prompt's file in, and leaves out a word that has nothing to say", () => {
    const words = ["run", "--file", "{prompt_file}", "--task={prompt}", "{prompt}", "last"];
    expect(argv(words, { ...PROMPT, prompt: "a `b` $C" })).toEqual([
      "run",
      "--file",
      "/home/agent/.cloche/prompt.txt",
      "--task=a `b` $C",
      "a `b` $C",
      "last",
    ]);
    expect(argv(words)).toEqual(["run", "--file", "--task=", "last"]);
    expect(argv(["sh", "-c", "cat {prompt_file}"])).toEqual(["sh", "-c", "cat /home/agent/.cloche/prompt.txt"]);
  });

  it("does not read places in what it fills in", () => {
    expect(argv(["x", "{prompt}"], { prompt: "say {prompt_file} and $& and {prompt}" })[1]).toBe(
      "say {prompt_file} and $& and {prompt}",
    );
  });

  it.each([
    [choice({ argv: ["true"] }, "TOKEN"), "auth_token"],
    [choice({}, null), "settings.argv"],
    [choice({ argv: [] }, null), "settings.argv"],
    [choice({ argv: "true" }, null), "list of texts"],
    [choice({ argv: ["true"], shell: "x" }, null), 'unknown key "shell" in "settings"; allowed are argv'],
  ])("refuses %j", (given, words) => {
    expect(command.check(given)).toContain(words);
  });
});

describe("every provider", () => {
  it.each([...BUILT_IN_PROVIDERS.values()])(
    "$name only computes: the same answers twice, and none for the real credential",
    (provider) => {
      const own =
        provider.name === "command"
          ? choice({ argv: ["true"] }, null)
          : choice(provider.name === "opencode" ? { model: "openai/x" } : {});
      const given = task({
        choice: own,
        ...PROMPT,
        prompt: "do it",
        stand_ins: Object.fromEntries(provider.credentials(own).map(({ variable }) => [variable, "stand-in"])),
      });
      const all = () => [
        provider.check(own),
        provider.program(own),
        provider.routes(own),
        provider.env(given),
        provider.files(given),
        provider.argv(given),
      ];
      expect(provider.check(own)).toBeUndefined();
      expect(all()).toEqual(all());
      expect(provider.argv(given)[0]).toBe(provider.program(own).command);
      for (const { token_ref } of provider.credentials(own)) expect(token_ref).toBe("TOKEN");
      for (const { path } of provider.files(given)) expect(path).toMatch(/^\/home\/agent\/\./);
      expect(provider.check({ ...own, settings: { ...own.settings, nonsense: 1 } })).toContain("nonsense");
    },
  );
});
