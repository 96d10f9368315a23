import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentsPath } from "../helpers/agents.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { Installation } from "../helpers/installation.ts";
import { BottledRealAgent, type Hands, LISTED, TALK_MS } from "../helpers/real-agents.ts";
import { callTool } from "../helpers/scripted-api/scripted-model.ts";
import { ScriptedUpstream } from "../helpers/scripted-api/scripted-upstream.ts";
import { TunnelTo } from "../helpers/tunnel-to.ts";

const HOST = "api.anthropic.com";
const HANDS: Hands = {
  run: (command) => callTool("Bash", { command, timeout: 600_000 }),
  read: (path) => callTool("Read", { file_path: path }),
  edit: (path, before, after) => callTool("Edit", { file_path: path, old_string: before, new_string: after }),
};

/** Where instructions are emulated it takes minutes; the first time its environment is built too. */
const VM_PATIENCE_MS = 600_000;

describe("Claude Code in a bottle", () => {
  let engine: DockerEngine;
  let at: Installation;
  let upstream: ScriptedUpstream;
  let withKey: BottledRealAgent;
  let withToken: BottledRealAgent;
  const secret = (prefix: string) => `${prefix}-${randomBytes(40).toString("hex")}`;

  beforeAll(async () => {
    engine = await DockerEngine.start();
    at = new Installation("bc", engine.env);
    upstream = await ScriptedUpstream.start([HOST, LISTED]);
    const common = { program: "claude", host: HOST, hands: HANDS } as const;
    const [key, token] = [secret("sk-ant-api03"), secret("sk-ant-oat01")];
    const variables = { key: "ANTHROPIC_API_KEY", token: "CLAUDE_CODE_OAUTH_TOKEN" };
    withKey = new BottledRealAgent(
      at,
      {
        ...common,
        name: "keyed",
        tokenRef: "MY_API_KEY",
        variable: variables.key,
        token: key,
        header: { "x-api-key": key },
      },
      upstream,
    );
    const header = { authorization: `Bearer ${token}` };
    withToken = new BottledRealAgent(
      at,
      { ...common, name: "subscribed", tokenRef: "MY_TOKEN", variable: variables.token, token, header },
      upstream,
    );
  });

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  it.each(["container", "docker", "vm"])(
    "G-78 on %s reads, runs, edits and commits without its key, and leaks nothing",
    async (backend) => {
      await withKey.work(backend);
      expect(withKey.agents.states()).toEqual([]);
    },
    VM_PATIENCE_MS,
  );

  it("is what `cloche demo --agent claude` starts; without a credential or an answer that ends with a word", async () => {
    const { count: before } = await at.sdk.listWorkspaces();
    await using proxy = await TunnelTo.start(upstream.upstream.port);
    const { ca } = upstream.route(at.root);
    writeFileSync(join(at.home, "config.yaml"), `egress: { proxy: "${proxy.url}", ca: "${ca}" }\n`);
    const PATH = agentsPath(at.path("demo-bin"), ["claude"]);
    const demo = (env: NodeJS.ProcessEnv) => at.cli(["demo", "--agent", "claude", "--json"], { env: { ...env, PATH } });
    const key = secret("sk-ant-api03");
    const model = upstream.play(function* () {
      yield HANDS.run("sh test.sh");
      yield HANDS.edit("/workspace/slug.sh", "tr ' ' '-'", "tr -cs 'a-z0-9\\n' '-' | sed 's/-$//'");
      yield HANDS.run("sh test.sh && echo repaired");
      return "It passes now";
    });
    const shown = await demo({ ANTHROPIC_API_KEY: key });
    expect(model.problems).toEqual([]);
    expect(model.calls.at(-1)?.outcome.text).toContain("repaired");
    expect(shown, shown.stdout).toMatchObject({ code: 0 });
    expect(shown.stdout).toContain("It passes now");
    expect(upstream.upstream.seen.every(({ headers }) => headers["x-api-key"] === key)).toBe(true);

    expect((await demo({ ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "" })).json()).toMatchObject({
      error: { code: "VARIABLE_MISSING", message: expect.stringContaining("ANTHROPIC_API_KEY") as unknown },
    });
    proxy.isOpen = false;
    const unreached = await demo({ ANTHROPIC_API_KEY: key });
    expect(unreached.code).toBe(1);
    expect(unreached.stdout).toContain(`${HOST} cannot be reached from this host`);
    expect([withKey.agents.states(), (await at.sdk.listWorkspaces()).count]).toEqual([[], before]);
    rmSync(join(at.home, "config.yaml"));
  });

  it(
    "asks nothing at its first start at a terminal, and takes up its conversation",
    async () => {
      await withToken.talk([/bypass permissions on/], /trust|theme|Do you want to|API key|Security notes|log ?in/i);
    },
    TALK_MS,
  );
});
