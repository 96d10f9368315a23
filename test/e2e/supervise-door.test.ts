import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changedName } from "../../src/contracts/environment.ts";
import { changeKey } from "../../src/environments/changed.ts";
import type { Proposal } from "../../src/model/proposal.ts";
import { callTool } from "../../src/parity/supervise-call.ts";
import { insertCapabilityBlock } from "../helpers/arriving-proposal.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { eventually, Installation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";
import { ScriptedUpstream } from "../helpers/scripted-api/scripted-upstream.ts";

const NEW = "new.example.test";

/** Each message to the door, and what came back, on a line of its own. */
const script = (messages: readonly object[]): string => `
ask() { curl -sS --noproxy '*' --max-time 60 -H 'content-type: application/json' --data-binary "$1" "\${MCP_SUPERVISE_URL:-http://127.0.0.1:9100/mcp}" || echo "no answer"; echo; }
${messages.map((message) => `ask '${JSON.stringify(message)}'`).join("\n")}
`;
let lastId = 0;
const request = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: ++lastId, method, params });
const call = (name: string, args: object = {}) => request("tools/call", { name, arguments: args });

const TOOL = "printf '#!/bin/sh\\necho I am the tool\\n' >/usr/local/bin/the-tool && chmod 755 /usr/local/bin/the-tool";

describe("the supervise door of a run", () => {
  let at: Installation;
  let agents: BottledAgents;
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    at = new Installation("ask");
    agents = new BottledAgents(at);
    upstream = await ScriptedUpstream.start([NEW]);
  });

  afterAll(async () => {
    await upstream[Symbol.asyncDispose]();
    await at[Symbol.asyncDispose]();
  });

  const talk = async (name: string, messages: readonly object[], bottle: object = {}) => {
    agents.agent(name, script(messages), { bottle: { supervise: true, ...bottle } });
    const { stdout, stderr, identity, end } = await agents.run(name);
    expect(end, stderr).toMatchObject({ exit_code: 0 });
    return { identity, answers: stdout.trim().split("\n") };
  };
  /** A route that is there, and lets one path pass. */
  const narrow = () => ({
    host: NEW,
    ...upstream.route(at.root),
    matches: [{ paths: [{ type: "exact", value: "/only-this" }] }],
  });
  const resultOf = (answer = "") => (JSON.parse(answer) as { result: Record<string, unknown> }).result;

  it("is served by the gate, with the tools that its environment allows", async () => {
    const routes = [{ host: "kept.example.test" }];
    const messages = [
      request("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      }),
      request("tools/list"),
      call("list-egress-routes"),
      call("signal-done", { summary: "all done" }),
    ];
    const { answers, identity } = await talk("asker", messages, { egress: { routes } });
    const [opened, listed, reached, done] = answers.map(resultOf);
    expect(opened).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "cloche-supervise" } });
    expect((listed!["tools"] as { name: string }[]).map(({ name }) => name)).toEqual([
      "egress-block",
      "list-egress-routes",
      "signal-done",
    ]);
    expect(reached?.["structuredContent"]).toMatchObject({ count: 1, routes: [{ host: "kept.example.test" }] });
    expect(done?.["structuredContent"]).toMatchObject({ status: "told" });
    const told: unknown[] = [];
    for await (const event of at.sdk.watch({ since: 0, follow: false, identity, kinds: ["run.done"] }))
      told.push(event);
    expect(told).toEqual([expect.objectContaining({ kind: "run.done", summary: "all done", identity })]);
  });

  /** The first proposal of a run that waits for an answer. */
  const proposalOf = async (identity: string): Promise<Proposal> => {
    let first: Proposal | undefined;
    await eventually(async () => {
      [first] = (await at.sdk.listApprovals({ identity })).proposals;
      expect(first).toBeDefined();
    });
    return first as Proposal;
  };

  it("lets an agent go on as soon as the operator has approved what it asked for", async () => {
    const asked = call("egress-block", { routes: [{ host: NEW }], justification: "to read it" });
    const get = `curl -sS -o /dev/null -w '%{http_code}\\n' https://${NEW}/manual?token=abc`;
    agents.agent("stuck", `${get}; ${script([asked])} ${get}; ${get.replace(NEW, "other.example.test")}`, {
      bottle: { supervise: true, egress: { routes: [narrow()] } },
    });
    const { identity } = await at.sdk.startRun("stuck", agents.options());
    const following = agents.follow(at.sdk.attachRun(identity));
    const { proposal_id: id, kind, proposed, command } = await proposalOf(identity);
    expect(command, "without the query").toBe(`GET ${NEW}:443/manual, which was refused`);
    expect([kind, proposed]).toEqual(["egress-block", { routes: [{ host: NEW }] }]);
    expect(await at.sdk.approveProposal(id)).toMatchObject({ status: "approved" });
    const { stdout } = await following;
    const [before, answer, after] = stdout.trim().split("\n");
    expect(before).toBe("403");
    expect(resultOf(answer)["structuredContent"]).toMatchObject({ status: "approved", proposal_id: id });
    expect(after).toBe("404"); // the upstream's own answer
  });

  it("takes a part of what was asked for, and tells for which proposal, and on whose word, a policy was changed", async () => {
    const part = { host: "part.example.test" };
    const ruled = { routes: [{ host: "ruled.example.test" }] };
    const rule = await at.sdk.addApprovalRule("egress-block", ruled, { reason: "each time" });
    const messages = [
      call("egress-block", { routes: [{ host: NEW }, part], justification: "both" }),
      call("egress-block", { ...ruled, justification: "as ever" }),
    ];
    agents.agent("edited", script(messages), { bottle: { supervise: true, egress: { routes: [narrow()] } } });
    const { identity, workspace_id } = await at.sdk.startRun("edited", agents.options());
    const following = agents.follow(at.sdk.attachRun(identity));
    const { proposal_id: id } = await proposalOf(identity);
    await at.sdk.showApproval(id);
    const edited = { proposed: { routes: [part] } };
    expect(await at.sdk.approveProposal(id, edited)).toMatchObject({ status: "modified", ...edited });
    const [first, second] = (await following).stdout.trim().split("\n");
    expect(resultOf(first)["structuredContent"]).toMatchObject({ status: "modified", approved: { routes: [part] } });
    expect(resultOf(second)["structuredContent"]).toMatchObject({ status: "approved" });
    const { proposals } = await at.sdk.listApprovals({ identity, status: "approved" });
    const { entries } = await at.sdk.showAudit({ kinds: ["policy.changed"] });
    const by = { operator: proposals[0]?.decided_by, workspace_id };
    expect(entries.filter((one) => one.workspace_id === workspace_id)).toMatchObject([
      { operator: "root", details: { proposal_id: id, after: { routes: [{ host: NEW }, part] } } },
      { ...by, details: { proposal_id: proposals[0]?.proposal_id } },
    ]);
    expect(by.operator).toBe(`rule ${rule.rule_id}`);
    await at.sdk.removeApprovalRule(rule.rule_id);
  });

  it("G-108 G-109 gives a run another environment, and leaves it the old one when a step fails", async () => {
    const broken = call("capability-block", { steps: ["echo it does not work >&2; exit 5"], justification: "to try" });
    const leaving = `python3 -c 'import urllib.request as u; u.urlopen("http://unlisted.example.test/", timeout=9)'`;
    const good = call("capability-block", {
      steps: [`${leaving} 2>/tmp/said || echo no way out; grep -c 403 /tmp/said >/etc/refused`, TOOL],
      justification: "I need it",
    });
    const agent = `
ask() { python3 -c 'import sys,urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open(u.Request(sys.argv[2],sys.argv[1].encode(),{"content-type":"application/json"}),timeout=90).read().decode())' "$1" "$MCP_SUPERVISE_URL"; }
if command -v the-tool >/dev/null; then the-tool; cat note ~/.talk /etc/refused; echo "$GREETING"; exit 7; fi
echo noted >note; echo talked >~/.talk
ask '${JSON.stringify(broken).replaceAll("'", `'\\''`)}'
ask '${JSON.stringify(good).replaceAll("'", `'\\''`)}'
sleep 600`;
    agents.agent("builder", agent, {
      bottle: { supervise: true, environment: "debian:12", env: { GREETING: "hello again" } },
    });
    const { identity, workspace_id } = await at.sdk.startRun("builder", agents.options());
    const following = agents.follow(at.sdk.attachRun(identity));
    const first = await proposalOf(identity);
    await expect(at.sdk.approveProposal(first.proposal_id)).rejects.toMatchObject({ code: "ENVIRONMENT_BUILD_FAILED" });
    expect((await at.sdk.statusWorkspace(workspace_id)).environment).toBe("debian:12");
    const { entries: failed } = await at.sdk.showAudit({ kinds: ["proposal.failed"], identity });
    expect(failed).toMatchObject([{ details: { proposal_id: first.proposal_id } }]);
    await at.sdk.rejectProposal(first.proposal_id, "it does not work");
    const second = await proposalOf(identity);
    expect(await at.sdk.approveProposal(second.proposal_id)).toMatchObject({ status: "approved" });
    const { stdout, end } = await following;
    const told = stdout.split("\n");
    expect(told.slice(-6, -1)).toEqual(["I am the tool", "noted", "talked", "1", "hello again"]);
    expect(end).toMatchObject({ exit_code: 7, kept: true });
    const { environment, changes } = agents.metadata(identity);
    expect([environment, changes.length]).toEqual([expect.stringMatching(/^changed:[0-9a-f]{16}\/debian:12$/), 1]);
    const names = (await at.sdk.listWorkspaces()).workspaces.map(({ name }) => name);
    expect(names.filter((name) => name?.startsWith(identity))).toEqual([identity]);
  });

  it("G-107 an approval that arrives in the environment of the host touches nothing", async () => {
    agents.agent("rooted", "sleep 600", { bottle: { supervise: true } });
    const { identity, workspace_id } = await at.sdk.startRun("rooted", agents.options());
    const before = [agents.metadata(identity), await at.sdk.statusWorkspace(workspace_id)];
    const proposal_id = await insertCapabilityBlock(at, { identity, workspace_id, environment: "host" });
    await expect(at.sdk.approveProposal(proposal_id)).rejects.toMatchObject({ code: "REMEDIATION_UNSUPPORTED" });
    expect([agents.metadata(identity), await at.sdk.statusWorkspace(workspace_id)]).toEqual(before);
    expect((await at.sdk.listApprovals({ identity })).proposals).toMatchObject([{ proposal_id, status: "pending" }]);
    expect((await at.sdk.listRuns()).runs.map((run) => run.identity)).toContain(identity);
    await at.sdk.stopRun(identity);
  });

  it("G-109 G-135 a run whose new environment cannot start it goes on in the old one; one whose daemon is killed has it or has it not", async () => {
    const agent = (steps: string[]) => callTool("capability-block", { steps, justification: "I need it" });
    const script = `
echo life >>~/.lives
if command -v the-tool >/dev/null; then the-tool; cat note; exit 7; fi
if [ "$(wc -l <~/.lives)" = 1 ]; then echo noted >note; ${agent(["rm -f /usr/bin/perl"])}; else ${agent([TOOL])}; fi
sleep 600`;
    agents.agent("mover", script, { bottle: { supervise: true, environment: "debian:12" } });
    const argv = ["perl", "-e", "exec '/bin/sh', '-c', $ARGV[0]", script];
    const agent_provider = { template: "command", settings: { argv } };
    agents.write("bottles", "mover", { environment: "debian:12", supervise: true, agent_provider });
    const { identity, workspace_id } = await at.sdk.startRun("mover", agents.options());
    const first = await proposalOf(identity);
    await expect(at.sdk.approveProposal(first.proposal_id)).rejects.toMatchObject({ code: "AGENT_PROGRAM_NOT_FOUND" });
    expect((await at.sdk.statusWorkspace(workspace_id)).environment).toBe("debian:12");
    expect(agents.metadata(identity)).toMatchObject({ environment: "debian:12", changes: [], moving: null });
    // What no run has is not kept: it is as large as a system.
    const { digest } = await at.sdk.inspectEnvironment("debian:12");
    const keyOf = (step: string) => changeKey(digest ?? "", [identity, [], [step]]);
    const changedOnes = async () =>
      (await at.sdk.listEnvironments()).environments.map(({ name }) => changedName(name)?.key);
    expect(await changedOnes()).not.toContain(keyOf("rm -f /usr/bin/perl"));
    await at.sdk.rejectProposal(first.proposal_id, "it needs perl");
    // Its second life, in the old environment, with its files.
    const { proposal_id: id } = await proposalOf(identity);
    const statusOf = async () => (await at.sdk.listApprovals({ proposal_id: id, status: "all" })).proposals[0]?.status;
    const environmentOf = async () => (await at.sdk.statusWorkspace(workspace_id)).environment;
    const begins = () => expect(agents.metadata(identity).moving).not.toBeNull();
    const isThere = async () => expect(await environmentOf()).toMatch(/^changed:/);
    for (const moment of [begins, isThere]) {
      const approving = at.sdk.approveProposal(id).catch(() => undefined);
      await eventually(moment, 120);
      await killDaemon(at);
      await approving;
      await environmentOf(); // starts the next daemon
      await eventually(() => expect(agents.metadata(identity)).toMatchObject({ session: null, moving: null }));
      const { environment, changes } = agents.metadata(identity);
      expect(environment).toBe(await environmentOf());
      const isChanged = environment !== "debian:12";
      expect([changes.length, await statusOf()]).toEqual(isChanged ? [1, "approved"] : [0, "pending"]);
      await at.sdk.resumeRun(identity, agents.options());
      if (isChanged) break;
    }
    expect(await statusOf()).toBe("approved");
    expect(await changedOnes()).toContain(keyOf(TOOL));
    const { stdout, end } = await agents.follow(at.sdk.attachRun(identity));
    expect(stdout).toContain("I am the tool\nnoted\n");
    expect(end).toMatchObject({ exit_code: 7 });
  }, 400_000); // it builds three environments

  it("G-106 is not there where the bottle says so", async () => {
    const { answers } = await talk("alone", [request("tools/list")], { supervise: false });
    expect(answers).toEqual(["no answer"]);
  });
});
