import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { Installation } from "../helpers/installation.ts";
import { BottledRealAgent, type Hands, LISTED } from "../helpers/real-agents.ts";
import { callTool } from "../helpers/scripted-api/scripted-model.ts";
import { ScriptedUpstream } from "../helpers/scripted-api/scripted-upstream.ts";

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

  it("asks nothing at its first start at a terminal, and takes up its conversation", async () => {
    await withToken.talk([/bypass permissions on/], /trust|theme|Do you want to|API key|Security notes|log ?in/i);
  });
});
