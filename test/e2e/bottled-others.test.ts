import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Installation } from "../helpers/installation.ts";
import { BottledRealAgent, type Hands, LISTED, TALK_MS } from "../helpers/real-agents.ts";
import { callTool } from "../helpers/scripted-api/scripted-model.ts";
import { ScriptedUpstream } from "../helpers/scripted-api/scripted-upstream.ts";

const OPENCODE: Hands = {
  run: (command) => callTool("bash", { command, description: "Runs it", timeout: 600_000 }),
  read: (path) => callTool("read", { filePath: path }),
  edit: (path, before, after) => callTool("edit", { filePath: path, oldString: before, newString: after }),
};
const GEMINI: Hands = {
  run: (command) => callTool("run_shell_command", { command, description: "Runs it" }),
  read: (path) => callTool("read_file", { file_path: path }),
  edit: (path, before, after) =>
    callTool("replace", { file_path: path, instruction: "Mend it", old_string: before, new_string: after }),
};

describe.each([
  {
    program: "opencode",
    host: "api.anthropic.com",
    variable: "ANTHROPIC_API_KEY",
    header: "x-api-key",
    hands: OPENCODE,
    settings: { model: "anthropic/claude-sonnet-4-5" },
    screen: /Ask anything/,
  },
  {
    program: "gemini",
    host: "generativelanguage.googleapis.com",
    variable: "GEMINI_API_KEY",
    header: "x-goog-api-key",
    hands: GEMINI,
    settings: { model: "gemini-2.5-pro" },
    screen: /Type your message/,
  },
] as const)("$program in a bottle", ({ program, host, variable, header, hands, settings, screen }) => {
  let at: Installation;
  let upstream: ScriptedUpstream;
  let agent: BottledRealAgent;

  beforeAll(async () => {
    at = new Installation("bo");
    upstream = await ScriptedUpstream.start([host, LISTED]);
    const token = `key-${randomBytes(40).toString("hex")}`;
    const keys = { tokenRef: "MY_KEY", variable, token, header: { [header]: token } };
    agent = new BottledRealAgent(at, { name: "coder", program, host, hands, settings, ...keys }, upstream);
  });

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it("G-78 works without its key, and leaks nothing", async () => {
    await agent.work("container");
    expect(agent.agents.states()).toEqual([]);
  });

  it(
    "asks nothing at its first start at a terminal, and takes up its conversation",
    async () => {
      await agent.talk([screen], /trust|log ?in|Sign in|theme|Do you want to/i);
    },
    TALK_MS,
  );
});
