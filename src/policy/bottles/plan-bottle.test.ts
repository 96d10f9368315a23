import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../model/agent-definition.ts";
import { Bottle } from "../../model/bottle.ts";
import type { AgentSource, BottleSpec } from "../../model/bottle-plan.ts";
import type { Provider } from "../../model/provider.ts";
import { BUILT_IN_BACKENDS } from "../../model/vocabulary.ts";
import { BUILT_IN_PROVIDERS } from "../../providers/built-in-providers.ts";
import { chooseProvider } from "./choose-provider.ts";
import { mergeBottles } from "./merge-bottles.ts";
import { planBottle, type PlanInput } from "./plan-bottle.ts";
import { planDocument, preflightText, wantedValues } from "./preflight.ts";

const SPEC: BottleSpec = {
  agent_name: "reviewer",
  bottle_names: [],
  backend: null,
  project_path: "/project",
  copy_cwd: false,
  headless: false,
  prompt: null,
  label: null,
  color: null,
};

interface Given {
  readonly agent?: AgentDefinition;
  readonly prompt?: string;
  readonly source?: AgentSource;
  readonly spec?: Partial<BottleSpec>;
  readonly provider?: Provider;
  readonly more?: Partial<PlanInput>;
}

/** A plan from what would be in the files. */
function plan(
  written: unknown,
  { agent = {}, prompt = "", source = "home", spec = {}, provider, more = {} }: Given = {},
) {
  const merged = mergeBottles(["dev"], () => Bottle.parse(written));
  const { template, choice } = chooseProvider(merged.bottle.agent_provider, {
    name: "reviewer",
    source,
    provider: agent.provider,
  });
  const found = provider ?? BUILT_IN_PROVIDERS.get(template);
  if (!found) throw new Error(template);
  return planBottle({
    spec: { ...SPEC, ...spec },
    agent: { name: "reviewer", source, path: null, prompt, skills: agent.skills ?? [] },
    definition: agent,
    bottleNames: ["dev"],
    merged,
    provider: found,
    choice,
    backend: "container",
    environment: "host",
    session: { id: "11111111-2222-4333-8444-555555555555", resume: false },
    standIn: (variable) => `stand-in-for-${variable}`,
    guestSkillsFolder: null,
    served: { git: false },
    canChangeEnvironment: false,
    notes: [],
    ...more,
  });
}

const FULL = {
  env: { GITHUB_API_URL: "https://git.example.com/api", LOG_LEVEL: "${LOG_LEVEL}" },
  agent_provider: { template: "claude", auth_token: "CLAUDE_TOKEN" },
  git: {
    user: { name: "Review Agent", email: "agent@example.com" },
    repos: { app: { url: "ssh://git@git.example.com/team/app.git" } },
  },
  egress: { routes: [{ host: "docs.example.com" }] },
};

const PREFLIGHT = `
  agent         reviewer
  provider      claude
  env           GITHUB_API_URL, LOG_LEVEL
  skills        init-prd, verify
  bottle        dev
  git identity  Review Agent <agent@example.com>
  git gate      app → git.example.com:22
  egress        api.anthropic.com [auth:Bearer]
                docs.example.com

`;

describe("the preflight", () => {
  it.each(BUILT_IN_BACKENDS)("is that of the contract, byte for byte, on %s", (backend) => {
    const made = plan(FULL, { agent: { skills: ["init-prd", "verify"] }, more: { backend } });
    expect(preflightText(made)).toBe(PREFLIGHT);
    expect(planDocument(made).backend).toBe(backend);
  });

  it("says (none) where there is nothing, and `file` for an upstream that is a file", () => {
    const made = plan({ agent_provider: { template: "command", settings: { argv: ["true"] } } });
    expect(preflightText(made)).toBe(`
  agent         reviewer
  provider      command
  env           (none)
  skills        (none)
  bottle        dev
  git identity  (none)
  git gate      (none)
  egress        (none)

`);
    const withFile = plan({ ...FULL, git: { repos: { app: { url: "file:///srv/app.git" } } } });
    expect(preflightText(withFile)).toContain("\n  git gate      app → file\n");
    expect(preflightText(plan({ ...FULL, git: { user: { email: "a@example.com" } } }))).toContain(
      "  git identity  <a@example.com>\n",
    );
  });

  it("G-62: has names and no value: not of a literal, not of a stand-in, and not of what quiets the agent", () => {
    const made = plan({ ...FULL, env: { LITERAL: "the-literal-value", ASKED: "?", TAKEN: "${X}" } });
    const told =
      preflightText(made) + JSON.stringify(planDocument(made)) + JSON.stringify(wantedValues(made)) + made.notes.join();
    expect(told).not.toMatch(/the-literal-value|stand-in|CLAUDE_CODE/);
    expect(planDocument(made).env_names).toEqual(["ASKED", "LITERAL", "TAKEN"]);
    expect(wantedValues(made)).toEqual({
      variables: ["X", "CLAUDE_TOKEN"],
      questions: [{ name: "ASKED", text: "Value of ASKED" }],
    });
  });
});

describe("planBottle()", () => {
  it("G-146 signs as the bottle says, whatever a file of the project says, and tells of it", () => {
    const bottle = { ...FULL, git: { user: FULL.git.user, signing: { key: "/k" } } };
    const agent = { git: { user: { name: "The Boss" } } };
    const found = (source: "home" | "project") => plan(bottle, { agent, source });
    expect(found("project").git_identity).toEqual(FULL.git.user);
    expect(found("project").notes).toEqual([
      "The host signs what the agent commits as Review Agent <agent@example.com>, with the key /k.",
      "git.user of agent reviewer does not count: a file of the project does not say what is signed.",
    ]);
    expect(found("home").git_identity?.name).toBe("The Boss");
    expect(plan(FULL, { agent, source: "project" }).git_identity?.name).toBe("The Boss");
  });

  it("says plainly that repositories are not served yet", () => {
    expect(plan(FULL).notes).toEqual([expect.stringContaining("git gate is not served yet") as string]);
    expect(plan(FULL, { more: { served: { git: true } } }).notes).toEqual([]);
  });

  it("supervises unless told not to, and holds what detectors find only where somebody can be asked", () => {
    const url = "http://127.0.0.1:9100/mcp";
    expect(plan({}).supervise_plan).toEqual({ url, can_change_environment: false });
    expect(plan({}, { more: { canChangeEnvironment: true } }).supervise_plan).toEqual({
      url,
      can_change_environment: true,
    });
    expect(plan({ supervise: false }).supervise_plan).toBeNull();
    const onMatch = (written: object) => plan(written).egress_plan.routes.at(-1)?.outbound_on_match;
    expect(onMatch(FULL)).toBe("supervise");
    expect(onMatch({ ...FULL, supervise: false })).toBe("block");
    expect(plan(FULL).egress_plan.routes[0]).toMatchObject({
      outbound_on_match: "redact",
      error_shape: "anthropic",
      of_provider: true,
    });
  });

  it("lays what a bottle says about the provider's host over the provider's route", () => {
    const { routes } = plan({
      ...FULL,
      egress: {
        routes: [{ host: "docs.example.com" }, { host: "api.anthropic.com", connect: "127.0.0.1:8443", ca: "/ca.pem" }],
      },
    }).egress_plan;
    expect(routes.map(({ route }) => route)).toEqual([
      {
        host: "api.anthropic.com",
        auth: { scheme: "Bearer", token_ref: "CLAUDE_TOKEN" },
        connect: "127.0.0.1:8443",
        ca: "/ca.pem",
      },
      { host: "docs.example.com" },
    ]);
  });

  it("has a stand-in for each credential: under the agent's name for it, or under its own", () => {
    const routes = [
      {
        host: "a.example.com",
        auth: [
          { scheme: "Bearer", token_ref: "A" },
          { scheme: "ApiKey", token_ref: "B" },
        ],
      },
    ];
    const repo = (token_ref: string) => ({ url: `https://git.example.com/${token_ref}`, auth: { token_ref } });
    const git = { repos: { one: repo("C"), two: repo("A") } };
    const { egress_plan: egress } = plan({ ...FULL, egress: { routes }, git });
    expect(egress.stand_ins.map(({ token_ref, variable }) => [token_ref, variable])).toEqual([
      ["CLAUDE_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
      ["A", "A"],
      ["B", "B"],
      ["C", "C"],
    ]);
    expect(egress.routes.at(-1)?.auth_scheme).toBe("Bearer+ApiKey");
  });

  it.each([
    [{ env: { HTTPS_PROXY: "http://x" } }, "env.HTTPS_PROXY: cloche sets it"],
    [{ env: { CLAUDE_CODE_OAUTH_TOKEN: "x" } }, "env.CLAUDE_CODE_OAUTH_TOKEN: it stands in"],
    [{ git: { repos: { app: { host_key: "k" } } } }, 'Repository "app" has no "url"'],
  ])("refuses %j", (written, message) => {
    expect(() => plan({ ...FULL, ...written })).toThrow(message);
  });

  it("says which route is never used, and that an agent has no credential", () => {
    const routes = [{ host: "*.example.com" }, { host: "a.example.com" }, { host: "b.example.org" }];
    const { notes } = plan({ agent_provider: { template: "claude" }, egress: { routes } });
    expect(notes).toEqual([
      expect.stringContaining("claude has no credential") as string,
      expect.stringContaining("a.example.com is never used: the one for *.example.com") as string,
    ]);
  });

  it("G-60: lets an agent of a project name no provider but the bottle's", () => {
    expect(() => plan(FULL, { source: "project", agent: { provider: "codex" } })).toThrow('asks for provider "codex"');
    expect(plan(FULL, { source: "project", agent: { provider: "claude" } }).agent_provision.provider).toBe("claude");
    const other = plan(FULL, { agent: { provider: "codex" } });
    expect(other.egress_plan.routes[0]?.route).toEqual({ host: "api.openai.com" });
  });

  it.each([
    ["argv", () => [], "argv"],
    ["argv", () => ["a\0b"], "zero byte"],
    ["env", () => ({ "NOT OK": "1" }), "NOT OK"],
    ["files", () => [{ path: "/home/agent/../../etc/x", text: "", mode: 0o600 }], "absolute path"],
    ["files", () => [{ path: "relative", text: "", mode: 0o600 }], "absolute path"],
    ["routes", () => [{ host: "127.0.0.1" }], "addresses are no hosts"],
    ["routes", () => [{ host: "x.example.com", secret: 1 }], "secret"],
    ["credentials", () => [{ token_ref: "A B", variable: "X" }], "no name"],
    [
      "argv",
      () => {
        throw new Error("boom");
      },
      'Provider "claude" fails: boom',
    ],
  ])("G-63: uses nothing of a plugin's `%s` before it is checked (%s)", (key, give, message) => {
    const claude = BUILT_IN_PROVIDERS.get("claude");
    if (!claude) throw new Error("no claude");
    expect(() => plan(FULL, { provider: { ...claude, [key]: give } })).toThrow(message);
  });
});
