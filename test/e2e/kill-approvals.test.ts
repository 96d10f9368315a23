import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { identifyProcess, isProcessAlive } from "../../src/base/process-identity.ts";
import type { AuditKind } from "../../src/model/audit.ts";
import type { Proposal } from "../../src/model/proposal.ts";
import { AskingAgents } from "../helpers/asking-agents.ts";
import { gateOf } from "../helpers/gate-of.ts";
import { eventually, Installation, PROJECT } from "../helpers/installation.ts";

/** When the process dies, as parts of the time that an approval takes. */
const MOMENTS = [0.05, 0.35, 0.65, 0.9];
const KINDS: AuditKind[] = ["proposal.created", "proposal.decided", "policy.changed"];
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

let at: Installation;
let agents: AskingAgents;
let run: string;

beforeAll(async () => {
  at = new Installation("ka");
  agents = new AskingAgents(at);
  run = await agents.start("asker");
});
afterAll(async () => {
  for (const { identity } of (await at.sdk.listRuns()).runs) await at.sdk.stopRun(identity);
  await at.sdk.cleanUp({ all: true });
  await at[Symbol.asyncDispose]();
});

/** A proposal for a host that nobody has asked for before. Who asks may lose the daemon. */
async function asked(host: string): Promise<Proposal> {
  void agents.askForRoute(run, host).catch(() => undefined);
  let found: Proposal | undefined;
  await eventually(async () => {
    found = (await at.sdk.listApprovals()).proposals.find(({ adds }) => adds.includes(host));
    expect(found).toBeDefined();
  });
  return found as Proposal;
}

/** What the gate itself says that it lets out. */
async function routesInForce(): Promise<string> {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list-egress-routes" } };
  const { stdout } = await at.sdk.execWorkspace(run, {
    command: `curl -sS --noproxy '*' --max-time 20 -H 'content-type: application/json' -d '${JSON.stringify(message)}' http://127.0.0.1:9100/mcp`,
  });
  expect(stdout).toContain("structuredContent");
  return stdout;
}

const bottle = () => readFileSync(join(at.home, "bottles/asker.md"), "utf8");

/** What was answered is there, once, in the queue, the policy, the bottle and the audit; what was not is nowhere. */
async function expectWhole({ proposal_id: id }: Proposal, host: string, scope: "run" | "bottle"): Promise<string> {
  let status = "";
  await eventually(async () => {
    // Asked each time: an approval may still be on its way.
    const { proposals } = await at.sdk.listApprovals({ proposal_id: id, status: "all" });
    status = proposals[0]?.status ?? "gone";
    expect(["approved", "pending"]).toContain(status);
    expect((await routesInForce()).includes(host), `${host} is ${status}`).toBe(status === "approved");
  });
  const isApproved = status === "approved";
  const written = bottle().split(host).length - 1;
  // The file is written before the answer: one that was not written down may have left it there.
  expect(isApproved || scope === "run" ? [isApproved && scope === "bottle" ? 1 : 0] : [0, 1]).toContain(written);
  const { entries } = await at.sdk.showAudit({ kinds: KINDS, limit: 1000 });
  const own = entries.filter(({ details }) => details["proposal_id"] === id).map(({ kind }) => kind);
  expect(own.sort()).toEqual(
    isApproved ? ["policy.changed", "proposal.created", "proposal.decided"] : ["proposal.created"],
  );
  expect(await at.sdk.verifyAudit()).toMatchObject({ valid: true });
  return status;
}

const VICTIMS = {
  daemon: async () => (await at.sdk.daemonStatus()).pid,
  gate: async () => {
    const { workspace_id: id } = await at.sdk.statusWorkspace(run);
    await eventually(() => expect(gateOf(at.home, id)).toBeDefined()); // the next one, after the last was killed
    return gateOf(at.home, id)?.gate ?? null;
  },
};

describe("kill -9 in the middle of an approval", () => {
  it.each([
    ["daemon", "run"],
    ["daemon", "bottle"],
    ["gate", "run"],
    ["gate", "bottle"],
  ] as const)("of the %s, for the %s: all of it or nothing, and it can be answered again", async (victim, scope) => {
    const name = (nth: number) => `${victim}-${scope}-${nth}.example.com`;
    const first = await asked(name(0));
    const began = performance.now();
    await at.sdk.approveProposal(first.proposal_id, { scope });
    const duration = performance.now() - began;
    expect(await expectWhole(first, name(0), scope)).toBe("approved");
    for (const [nth, moment] of MOMENTS.entries()) {
      const host = name(nth + 1);
      const proposal = await asked(host);
      const identity = identifyProcess((await VICTIMS[victim]()) ?? 0);
      if (!identity) throw new Error(`no ${victim} to kill`);
      const approving = Promise.allSettled([at.sdk.approveProposal(proposal.proposal_id, { scope })]);
      await pause(duration * moment);
      process.kill(identity.pid, "SIGKILL");
      await eventually(() => expect(isProcessAlive(identity)).toBe(false));
      const [outcome] = await approving;
      const status = await expectWhole(proposal, host, scope);
      if (outcome.status === "fulfilled") expect(status).toBe("approved");
      else expect(["DAEMON_UNREACHABLE", "GATE_FAILED"]).toContain((outcome.reason as { code: string }).code);
      if (status === "approved") continue;
      await at.sdk.showApproval(proposal.proposal_id);
      await at.sdk.approveProposal(proposal.proposal_id, { scope });
      expect(await expectWhole(proposal, host, scope)).toBe("approved");
    }
  });

  it.each(["run", "bottle"] as const)("of the operator's program, for the %s: the same", async (scope) => {
    const approve = ({ proposal_id }: Proposal) => {
      const words = [join(PROJECT, "dist/cli/main.js"), "approvals", "approve", proposal_id, "--scope", scope];
      const program = spawn(process.execPath, words, { env: at.env, stdio: "ignore" });
      return { program, ended: once(program, "exit") };
    };
    const name = (nth: number) => `operator-${scope}-${nth}.example.com`;
    const first = await asked(name(0));
    const began = performance.now();
    expect(await approve(first).ended).toEqual([0, null]);
    const duration = performance.now() - began;
    for (const [nth, moment] of MOMENTS.entries()) {
      const host = name(nth + 1);
      const proposal = await asked(host);
      const { program, ended } = approve(proposal);
      await pause(duration * moment);
      program.kill("SIGKILL");
      await ended;
      let status = "";
      // What it had asked for goes on without it.
      await eventually(async () => {
        status = await expectWhole(proposal, host, scope);
      });
      if (status === "approved") continue;
      await at.sdk.approveProposal(proposal.proposal_id, { scope }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "PROPOSAL_DECIDED" }); // by the one that was on its way
      });
      expect(await expectWhole(proposal, host, scope)).toBe("approved");
    }
  });
});
