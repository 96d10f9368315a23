import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentProgram, agentsPath } from "../helpers/agents.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { eventually, Installation } from "../helpers/installation.ts";
import type { ToolCall } from "../helpers/scripted-api/model-wire.ts";
import { callTool, type ScriptedModel } from "../helpers/scripted-api/scripted-model.ts";
import { ScriptedUpstream } from "../helpers/scripted-api/scripted-upstream.ts";

const NEW = "new.example.test";
const ASK = { routes: [{ host: NEW }], justification: "to read what is there" };
const GET = `curl -sS -o /dev/null -w 'answered %{http_code}' https://${NEW}/docs`;

interface Asking {
  readonly program: AgentProgram;
  readonly host: string;
  readonly tokenRef: string;
  readonly token: string;
  readonly run: (command: string) => ToolCall;
  readonly ask: ToolCall;
  readonly list: ToolCall;
}

/** Codex's models write programs that call its tools; it turns a dash of a tool's name into an underscore. */
const play = (source: string) =>
  callTool("exec", {
    input: `// @exec: {"yield_time_ms": 100000, "max_output_tokens": 20000}\ntext(await tools.${source});`,
  });
const random = () => randomBytes(40).toString("hex");

const CLAUDE: Asking = {
  program: "claude",
  host: "api.anthropic.com",
  tokenRef: "MY_API_KEY",
  token: `sk-ant-api03-${random()}`,
  run: (command) => callTool("Bash", { command }),
  ask: callTool("mcp__supervise__egress-block", ASK),
  list: callTool("mcp__supervise__list-egress-routes"),
};
const CODEX: Asking = {
  program: "codex",
  host: "api.openai.com",
  tokenRef: "MY_KEY",
  token: `sk-proj-${random()}`,
  run: (cmd) => play(`exec_command(${JSON.stringify({ cmd, yield_time_ms: 100_000 })})`),
  ask: play(`mcp__supervise__egress_block(${JSON.stringify(ASK)})`),
  list: play("mcp__supervise__list_egress_routes({})"),
};

describe("real agents ask through their own MCP clients", () => {
  let at: Installation;
  let agents: BottledAgents;
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    at = new Installation("aa");
    agents = new BottledAgents(at);
    upstream = await ScriptedUpstream.start([CLAUDE.host, CODEX.host, NEW]);
  });

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  /** Refused, asks, is approved from outside, and goes on. */
  const talk = async ({ program, host, tokenRef, token, run, ask, list }: Asking): Promise<ScriptedModel> => {
    const route = upstream.route(at.root);
    const matches = [{ paths: [{ type: "exact", value: "/only-this" }] }];
    agents.write("bottles", program, {
      environment: "host",
      agent_provider: { template: program, auth_token: tokenRef },
      egress: {
        routes: [
          { host, ...route },
          { host: NEW, ...route, matches },
        ],
      },
    });
    agents.write("agents", program, { bottle: program }, "You ask when you are stuck.\n");
    const model = upstream.play(function* () {
      yield list;
      yield run(GET);
      yield ask;
      yield run(GET);
      return "It is read";
    });
    const folder = at.path(program);
    mkdirSync(folder);
    const { identity } = await at.sdk.startRun(
      program,
      agents.options({
        prompt: "Read it",
        variables: { [tokenRef]: token },
        search_path: agentsPath(join(folder, "bin"), [program]),
      }),
    );
    const following = agents.follow(at.sdk.attachRun(identity));
    await eventually(async () => {
      const { proposals } = await at.sdk.listApprovals({ identity });
      expect(proposals, JSON.stringify([model.problems, model.calls])).toMatchObject([
        { kind: "egress-block", justification: ASK.justification },
      ]);
    });
    const [proposal] = (await at.sdk.listApprovals({ identity })).proposals;
    expect(await at.sdk.approveProposal(proposal?.proposal_id ?? "")).toMatchObject({ status: "approved" });
    const { stdout, stderr, end } = await following;
    expect({ ...end, problems: model.problems, stderr: end.exit_code === 0 ? "" : stderr }).toMatchObject({
      exit_code: 0,
      problems: [],
      stderr: "",
    });
    expect(stdout).toContain("It is read");
    return model;
  };

  it.each([CLAUDE, CODEX])("$program", async (agent) => {
    const { calls } = await talk(agent);
    const outcome = (index: number) => calls[index]?.outcome.text ?? "";
    expect(outcome(0)).toContain("next_step");
    expect(outcome(1)).toContain("answered 403");
    expect(outcome(2)).toMatch(/"?status\\?"?:\s?\\?"approved/);
    expect(outcome(2)).toContain("Send the request again");
    expect(outcome(3)).toContain("answered 404"); // by the upstream itself
  });
});
