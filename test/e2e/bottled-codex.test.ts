import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { Installation } from "../helpers/installation.ts";
import { BottledRealAgent, type Hands, LISTED, TALK_MS } from "../helpers/real-agents.ts";
import { callTool } from "../helpers/scripted-api/scripted-model.ts";
import { ScriptedUpstream } from "../helpers/scripted-api/scripted-upstream.ts";

const HOST = "api.openai.com";
/** Its models write programs that call its tools. */
const play = (source: string) =>
  callTool("exec", {
    input: `// @exec: {"yield_time_ms": 100000, "max_output_tokens": 20000}\ntext(await tools.${source});`,
  });
const run = (cmd: string) => play(`exec_command(${JSON.stringify({ cmd, yield_time_ms: 100_000 })})`);
const HANDS: Hands = {
  run,
  read: (path) => run(`cat ${path}`),
  edit: (path, before, after) => {
    const [minus, plus] = [`-echo $((${before}))`, `+echo $((${after}))`];
    const patch = ["*** Begin Patch", `*** Update File: ${path}`, "@@", minus, plus, "*** End Patch"].join("\n");
    return play(`apply_patch(${JSON.stringify(patch)})`);
  },
};

/** Where instructions are emulated it takes minutes; the first time its environment is built too. */
const VM_PATIENCE_MS = 600_000;

describe("Codex in a bottle", () => {
  let engine: DockerEngine;
  let at: Installation;
  let upstream: ScriptedUpstream;
  let agent: BottledRealAgent;

  beforeAll(async () => {
    engine = await DockerEngine.start();
    at = new Installation("bx", engine.env);
    upstream = await ScriptedUpstream.start([HOST, LISTED]);
    const token = `sk-proj-${randomBytes(40).toString("hex")}`;
    const keys = { tokenRef: "MY_KEY", variable: "CODEX_API_KEY", token, header: { authorization: `Bearer ${token}` } };
    agent = new BottledRealAgent(at, { name: "coder", program: "codex", host: HOST, hands: HANDS, ...keys }, upstream);
  });

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  // Each way and each backend once: what a gate sees does not depend on the wall.
  it.each([
    ["container", "a WebSocket"],
    ["docker", "HTTP"],
    ["vm", "a WebSocket"],
  ])(
    "G-78 on %s works over %s without its key, and leaks nothing",
    async (backend, way) => {
      upstream.acceptsWebSockets = way !== "HTTP";
      await agent.work(backend);
      expect(upstream.messages.length > 0).toBe(way !== "HTTP");
      if (way === "HTTP") expect(agent.counted).toBeGreaterThan(0);
      else expect(agent.counted).toBe(upstream.messages.length);
      expect(agent.agents.states()).toEqual([]);
    },
    VM_PATIENCE_MS,
  );

  it(
    "asks nothing at its first start at a terminal, and takes up its conversation",
    async () => {
      upstream.acceptsWebSockets = true;
      await agent.talk([/OpenAI Codex/], /trust|Sign in|allow/i);
    },
    TALK_MS,
  );
});
