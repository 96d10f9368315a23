import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Backend } from "../contracts/backend.ts";
import type { Config } from "../model/config.ts";
import { planDocument } from "../policy/bottles/preflight.ts";
import { Manifest } from "../sdk/manifest.ts";
import { describeAgent } from "./describe-agent.ts";
import { initManifest } from "./init-manifest.ts";
import { listAgents } from "./list-agents.ts";
import { manifestFiles } from "./manifest-files.ts";
import { openManifest, planRun, planWithBottle, type RunRequest } from "./plan-run.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cloche-plan-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const backend = (name: string, hostFolders: boolean) => ({ name, capabilities: { hostFolders } }) as Backend;
const BACKENDS = new Map([
  ["container", backend("container", true)],
  ["vm", backend("vm", false)],
]);
const deps = (config: Config = {}) => ({ home, backends: BACKENDS, config: () => config });

const COMMAND = { template: "command", settings: { argv: ["true"] } };
const request = (
  bottles: Record<string, object>,
  agents: Record<string, object>,
  more: Partial<RunRequest> = {},
): RunRequest => {
  const { bottles: b, agents: a } = Manifest.fromObject({ bottles, agents });
  return { agent: "demo", project_path: "/", manifest: { bottles: { ...b }, agents: { ...a } }, ...more };
};

describe("planRun()", () => {
  it("refuses a limit of the disk, which no backend keeps, by the bottle that says it", async () => {
    const bottles = { base: { limits: { disk_mib: 100, mem_mib: 512 } }, dev: { extends: "base" } };
    const planned = planRun(deps(), request(bottles, { demo: { bottle: "dev", skills: [], prompt: "" } }));
    await expect(planned).rejects.toMatchObject({
      code: "LIMIT_UNSUPPORTED",
      message: 'Bottle "base" has "limits.disk_mib", and the backend "container" cannot limit the disk',
      hint: 'Remove "disk_mib" from "limits" of the bottle "base"',
    });
  });

  it("plans what a program brings as an object, as the contract has it", async () => {
    const plan = await planRun(deps(), request({ dev: {} }, { demo: { bottle: "dev", skills: [], prompt: "" } }));
    expect(planDocument(plan)).toMatchObject({
      agent: "demo",
      provider: "claude",
      bottle: "dev",
      backend: "container",
    });
    expect(plan.agent).toMatchObject({ source: "object", path: null, prompt: "" });
  });

  it.each([
    [{ dev: { backend: "vm" } }, {}, {}, "vm", "debian:12"],
    [{ dev: {} }, { default_backend: "vm" }, {}, "vm", "debian:12"],
    [{ dev: { backend: "container" } }, { default_backend: "vm" }, {}, "container", "host"],
    [{ dev: { backend: "container" } }, { backend: "vm" }, {}, "vm", "debian:12"],
    [{ dev: {} }, {}, { backend: "vm", environment: "debian:12-build" }, "vm", "debian:12-build"],
    [{ dev: { environment: "debian:12" } }, {}, { environment: "host" }, "container", "debian:12"],
  ] as [Record<string, object>, Partial<RunRequest>, Config, string, string][])(
    "takes the backend of the call, the bottle, the variable, the configuration: %j %j %j",
    async (bottles, more, config, name, environment) => {
      const plan = await planRun(deps(config), request(bottles, { demo: { bottle: "dev" } }, more));
      expect([plan.backend, plan.environment]).toEqual([name, environment]);
    },
  );

  it.each([
    [
      { dev: { egres: {} } },
      {},
      'Cannot use "bottles.dev" of the manifest: unknown key "egres"; allowed are extends, environment',
    ],
    [{ dev: {} }, { bottles: ["other"] }, 'There is no bottle "other"'],
    [{ dev: {} }, { backend: "nowhere" }, 'There is no backend "nowhere"'],
    [{ dev: { agent_provider: { template: "nobody" } } }, {}, 'There is no provider "nobody"'],
    [
      { dev: { agent_provider: { template: "claude", settings: { modle: "x" } } } },
      {},
      'Bottle "dev" cannot use provider "claude": unknown key "modle"',
    ],
  ] as [Record<string, object>, Partial<RunRequest>, string][])(
    "refuses %j with %j",
    async (bottles, more, message) => {
      await expect(planRun(deps(), request(bottles, { demo: { bottle: "dev" } }, more))).rejects.toThrow(message);
    },
  );

  it("says that an agent names no bottle, and takes the one that is given in its place", async () => {
    const given = request({ dev: {} }, { demo: {} });
    await expect(planRun(deps(), given)).rejects.toThrow('Agent "demo" names no bottle');
    expect((await planRun(deps(), { ...given, bottles: ["dev"] })).bottle_names).toEqual(["dev"]);
  });

  it("keeps session and stand-ins of a run, and makes new ones for another", async () => {
    const given = request(
      { dev: { agent_provider: { template: "claude", auth_token: "T" } } },
      { demo: { bottle: "dev" } },
    );
    const first = await planRun(deps(), given);
    const [standIn] = first.egress_plan.stand_ins;
    const memory = {
      session: { id: first.agent_provision.session_id, resume: true },
      standIns: { [standIn?.variable ?? ""]: standIn?.value ?? "" },
    };
    const again = await planRun(deps(), given, memory);
    expect(again.egress_plan.stand_ins).toEqual(first.egress_plan.stand_ins);
    expect(again.agent_provision.argv).toContain("--resume");
    const other = await planRun(deps(), given);
    expect(other.egress_plan.stand_ins[0]?.value).not.toBe(standIn?.value);
    expect(standIn?.value).toMatch(/^cloche-stand-in-[0-9a-f]{48}$/);
  });

  it("writes nothing", async () => {
    await planRun(deps(), request({ dev: {} }, { demo: { bottle: "dev" } }));
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("a provider of the user's own", () => {
  const PLUGIN = `export default {
    name: "mine", summary: "mine", skills_folder: ".mine/skills", error_shape: null, shown_env: ["MINE_SHOWN"],
    check: () => undefined, program: () => ({ command: "mine", packages: {}, interpreter: null }),
    credentials: () => [], routes: () => [{ host: "Mine.Example.com" }], files: () => [],
    env: () => ({ MINE_SHOWN: "1", MINE_HIDDEN: "1" }), argv: () => ["mine", "VERSION"],
  };`;
  const write = (text: string) => {
    mkdirSync(join(home, "providers"), { recursive: true });
    writeFileSync(join(home, "providers/mine.mjs"), text);
  };
  const given = () => request({ dev: { agent_provider: { template: "mine" } } }, { demo: { bottle: "dev" } });

  it("is used, and used as it is now when its file has changed", async () => {
    write(PLUGIN);
    const plan = await planRun(deps(), given());
    expect(planDocument(plan)).toMatchObject({
      provider: "mine",
      env_names: ["MINE_SHOWN"],
      egress: [{ host: "mine.example.com" }],
    });
    write(PLUGIN.replace("VERSION", "another one"));
    expect((await planRun(deps(), given())).agent_provision.argv).toEqual(["mine", "another one"]);
  });

  it.each([
    ["not JavaScript (", "Cannot load"],
    ["export const x = 1;", "no provider"],
    [PLUGIN.replace('name: "mine"', 'name: "other"'), 'its name is "other"'],
    [PLUGIN.replace("files: () => [],", ""), '"files" must be a function'],
    [PLUGIN.replace(".mine/skills", "../../etc"), "below the home"],
    [`throw new Error("boom");\n${PLUGIN}`, "boom"],
    [PLUGIN.replace('summary: "mine"', 'get summary() { throw new Error("boom"); }'), "boom"],
    [`await new Promise(() => {});\n${PLUGIN}`, "not loaded after 5 seconds"],
  ])("is refused with its file when it is %j", async (text, message) => {
    write(text);
    const refused = planRun(deps(), given());
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow("mine.mjs");
  });
});

describe("what a provider of the user's own gives", () => {
  const digest = `sha512-${"A".repeat(86)}==`;
  const program = (packaged: object, more: object = {}) => ({
    program: { command: "mine", packages: { x64: packaged, arm64: packaged }, interpreter: null, ...more },
  });
  const good = { name: "@scope/mine", version: "1.2.3", integrity: digest, file: "bin/mine" };
  const plan = async (parts: object) => {
    mkdirSync(join(home, "providers"), { recursive: true });
    const members = Object.entries(parts).map(([key, value]) => `${key}: () => (${JSON.stringify(value)})`);
    const text = `export default { name: "mine", summary: "mine", skills_folder: ".mine", error_shape: null, check: () => undefined,
      program: () => ({ command: "mine", packages: {}, interpreter: null }), credentials: () => [], routes: () => [], env: () => ({}), files: () => [],
      argv: () => ["mine"], ${members.join(", ")} };`;
    writeFileSync(join(home, "providers/mine.mjs"), text);
    const given = request({ dev: { agent_provider: { template: "mine" } } }, { demo: { bottle: "dev" } });
    return (await planRun(deps(), given)).agent_provision;
  };

  it("may have its program in a package, with a digest of it", async () => {
    const { program: planned } = await plan(program(good, { places: ["~/bin/mine"], install: "make mine" }));
    expect(planned.packages.x64).toEqual(good);
  });

  it.each([
    [program({ ...good, integrity: "sha1-x" }), "no digest"],
    [program({ ...good, name: "--registry=x" }), "no name of a package"],
    [program({ ...good, version: "latest || 1" }), "a word of letters"],
    [program({ ...good, file: "../../bin/sh" }), "inside of its package"],
    [program({ ...good, file: "/bin/sh" }), "inside of its package"],
    [program(good, { command: "../mine" }), "a word of letters"],
    [program(good, { places: ["relative/mine"] }), "an absolute path"],
    [program(good, { interpreter: "node" }), "interpreter"],
    [{ argv: "mine" }, "argv"],
    [{ argv: [] }, "argv"],
    [{ files: [{ path: "/home/agent/../../etc/x", text: "", mode: 0o600 }] }, "files"],
    [{ env: { "A=B": "x" } }, "no name of a variable"],
    [{ routes: [{ host: "127.0.0.1" }] }, "addresses are no hosts"],
  ])("G-63: is refused where it is %j", async (parts, message) => {
    const refused = plan(parts);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ code: "MANIFEST_INVALID" });
  });
});

describe("Manifest.fromObject()", () => {
  it.each([
    [null, "a manifest is an object"],
    [[], "a manifest is an object"],
    [{ bottle: {} }, 'unknown key "bottle"; allowed are bottles, agents'],
    [{ bottles: [] }, '"bottles" must be an object'],
    [{ bottles: { Bad_Name: {} } }, '"Bad_Name"'],
    [{ agents: { demo: "dev" } }, '"agents.demo" must be an object'],
  ])("refuses %j", (object, message) => {
    expect(() => Manifest.fromObject(object as never)).toThrow(message);
  });

  it("keeps a copy", () => {
    const bottles = { dev: { env: { A: "1" } } };
    const manifest = Manifest.fromObject({ bottles });
    bottles.dev.env.A = "2";
    expect(manifest.bottles).toEqual({ dev: { env: { A: "1" } } });
  });
});

describe("listAgents() and describeAgent()", () => {
  it("lists what is broken with its reason, beside what is not", async () => {
    const given = request(
      {
        dev: { agent_provider: COMMAND },
        torn: { extends: "gone" },
        bad: { x: 1 },
        slip: { agent_provider: { template: "command", settings: { command: ["true"] } } },
        stranger: { agent_provider: { template: "nobody" } },
      },
      { demo: { bottle: "dev" }, lost: { bottle: "torn" }, none: {}, other: { bottle: "slip" } },
    );
    const list = await listAgents(home, openManifest(home, given), new AbortController().signal);
    expect(list.agents).toMatchObject([
      { name: "demo", bottle: "dev", provider: "command", source: "object", problem: null },
      { name: "lost", bottle: "torn", provider: null, problem: expect.stringContaining("gone") as string },
      { name: "none", bottle: null, problem: expect.stringContaining("names no bottle") as string },
      { name: "other", provider: "command", problem: expect.stringContaining('unknown key "command"') as string },
    ]);
    expect(list.bottles).toMatchObject([
      { name: "bad", problem: expect.stringContaining('unknown key "x"') as string },
      { name: "dev", extends: [], problem: null },
      { name: "slip", problem: expect.stringContaining('unknown key "command"') as string },
      { name: "stranger", problem: expect.stringContaining('no provider "nobody"') as string },
      { name: "torn", extends: ["gone"], problem: expect.stringContaining("no such bottle") as string },
    ]);
  });

  it("tells the source of each field, and no literal", async () => {
    const given = request(
      {
        base: {
          environment: "host",
          env: { A: "the-literal", B: "${B}" },
          agent_provider: COMMAND,
          git: { user: { name: "Base", email: "b@example.com" } },
        },
        dev: { extends: "base", egress: { routes: [{ host: "a.example.com" }] } },
      },
      {
        demo: { bottle: "dev", skills: ["verify"], git: { user: { name: "Agent" } }, prompt: "\nFirst line.\nSecond." },
      },
    );
    const detail = describeAgent(await planWithBottle(deps(), given));
    const sources = Object.fromEntries(detail.fields.map(({ field, source }) => [field, source]));
    expect(sources).toMatchObject({
      environment: "bottle base",
      backend: "default",
      "env.A": "bottle base",
      "egress.routes.a.example.com": "bottle dev",
      "git.user.name": "agent demo",
      "git.user.email": "bottle base",
      skills: "agent demo",
      provider: "bottle base",
    });
    expect(detail).toMatchObject({
      prompt: "First line.",
      merged_bottles: ["base", "dev"],
      wanted: { variables: ["B"] },
    });
    expect(JSON.stringify(detail)).not.toContain("the-literal");
  });
});

describe("a plan for a project whose commits the host signs", () => {
  const url = "https://git.example.com/team/app.git";
  const repos = { app: { url } };
  const before = process.env["GIT_CONFIG_GLOBAL"];
  afterEach(() => {
    if (before === undefined) delete process.env["GIT_CONFIG_GLOBAL"];
    else process.env["GIT_CONFIG_GLOBAL"] = before;
  });
  const notes = async (git: object) => {
    const dev = { agent_provider: COMMAND, git };
    return (await planRun(deps(), request({ dev }, { demo: { bottle: "dev" } }, { project_path: home }))).notes;
  };

  it("tells that the agent's are not signed, unless the bottle has a key for them", async () => {
    process.env["GIT_CONFIG_GLOBAL"] = join(home, "gitconfig");
    writeFileSync(join(home, "gitconfig"), "[commit]\n\tgpgSign = yes\n");
    expect(await notes({ repos })).toEqual([
      expect.stringMatching(/signs commits, and in the sandbox it does not.*git\.signing/),
    ]);
    expect(await notes({ repos, signing: { key: "/k" }, user: { email: "a@example.com" } })).toEqual([
      "The host signs what the agent commits as <a@example.com>, with the key /k.",
    ]);
    expect(await notes({ user: { name: "A" } })).toEqual([]);
    writeFileSync(join(home, "gitconfig"), "[commit]\n\tgpgSign = true\n\tgpgSign = off\n");
    expect(await notes({ repos })).toEqual([]);
    process.env["GIT_CONFIG_GLOBAL"] = "/dev/null";
    expect(await notes({ repos })).toEqual([]);
  });
});

describe("planRun() with a repository", () => {
  it.each([
    "ssh:///team/app.git",
    "https:///",
    "https:///team/app.git",
    "https:/git.example.com/app.git",
    "http:app/x.git",
    "http://",
    "file://server/app.git",
    "file:app.git",
    "git@:team/app.git",
    ":team/app",
    "ftp://git.example.com/app",
    "app.git",
  ])("takes no URL without a host, or of another kind: %s", async (url) => {
    const asked = request({ dev: { git: { repos: { app: { url } } } } }, { demo: { bottle: "dev" } });
    await expect(planRun(deps(), asked)).rejects.toMatchObject({
      code: "MANIFEST_INVALID",
      message: expect.stringContaining("it is no ssh://") as string,
    });
  });
});

describe("initManifest()", () => {
  it.each(["command", "claude", "codex", "opencode", "gemini"])(
    "writes a bottle and an agent for %s that can be planned",
    async (provider) => {
      const started = initManifest(home, { provider });
      expect(started.written).toHaveLength(2);
      const plan = await planRun(deps(), { agent: started.agent, project_path: "/" });
      expect(plan.agent_provision.provider).toBe(provider);
      expect(plan.notes).toEqual([]);
    },
  );

  it("never writes over what is there", async () => {
    mkdirSync(join(home, "bottles"));
    writeFileSync(join(home, "bottles/dev.md"), "---\n# mine\n---\n");
    const { written, kept } = initManifest(home, {});
    expect([written.length, kept]).toEqual([1, [join(home, "bottles/dev.md")]]);
    expect(readFileSync(join(home, "bottles/dev.md"), "utf8")).toBe("---\n# mine\n---\n");
    expect(initManifest(home, {}).written).toEqual([]);
    const list = await listAgents(home, manifestFiles(home, "/"), new AbortController().signal);
    expect(list.agents.map(({ name, problem }) => [name, problem])).toEqual([["assistant", null]]);
  });
});
