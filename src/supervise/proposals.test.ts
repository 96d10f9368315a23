import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Route } from "../model/egress.ts";
import { failure } from "../model/error-codes.ts";
import { MAX_PENDING_PER_RUN, PROPOSAL_SECONDS } from "../model/proposal.ts";
import { approvalOperations } from "../model/operations/approval-operations.ts";
import { ProposalQueue } from "../../test/helpers/proposal-queue.ts";
import { checkProposed } from "./read-proposed.ts";

let queue: ProposalQueue;
beforeEach(() => {
  queue = new ProposalQueue();
});
afterEach(() => queue[Symbol.dispose]());

const push = {
  digest: "d".repeat(64),
  repo: "app",
  refs: [{ ref: "refs/heads/main", old: "0".repeat(40), new: "1".repeat(40) }],
  failures: [{ step: "refs", text: "no" }],
};

describe("taking what gates ask", () => {
  it("writes it down, tells it, and tells the gate that it waits", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    const [one] = proposals.list({}).proposals;
    expect(one).toMatchObject({
      proposal_id: "p-a000000000",
      identity: "run-ws-a",
      agent_name: "demo",
      kind: "egress-block",
      status: "pending",
      created_at: queue.now,
      expires_at: queue.now + PROPOSAL_SECONDS,
    });
    expect(one?.adds).toContain("every request, whatever its method and path");
    expect(queue.answers).toMatchObject([
      { workspaceId: "ws-a", answer: { status: "pending", proposal_id: "p-a000000000" } },
    ]);
    expect(await queue.told(["proposal.created"])).toMatchObject([
      { identity: "run-ws-a", proposal_kind: "egress-block" },
    ]);
  });

  it("is one proposal for what is asked twice in a run, under whatever id, and two for two runs", () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    proposals.take("ws-a", [queue.ask("p-a", "a.test"), queue.ask("p-b", "a.test", { justification: "again" })]);
    proposals.take("ws-b", [queue.ask("p-c", "a.test")]);
    expect(proposals.list({}).count).toBe(2);
    expect(queue.answers.map(({ answer }) => answer.proposal_id)).toEqual(
      Array(3).fill("p-a000000000").concat("p-c000000000"),
    );
  });

  it("G-96: a gate hears nothing about another run's proposal, whatever id it names", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    await proposals.approve({ proposal_id: "p-a" });
    queue.answers = [];
    proposals.take("ws-b", [queue.ask("p-a", "b.test")]);
    expect(queue.answers).toMatchObject([{ workspaceId: "ws-b", answer: { status: "pending" } }]);
    expect(queue.answers[0]?.answer.proposal_id).not.toBe("p-a000000000");
    expect(proposals.list({ identity: "run-ws-b" }).count).toBe(1);
  });

  it("G-95: takes no more than an operator can look at, and nothing huge", () => {
    const { proposals } = queue.open();
    const many = Array.from({ length: MAX_PENDING_PER_RUN + 5 }, (_, at) => queue.ask(`p-${at}x`, `h${at}.test`));
    proposals.take("ws-a", many);
    expect(proposals.list({}).count).toBe(MAX_PENDING_PER_RUN);
    expect(queue.answers.filter(({ answer }) => answer.status === "rejected")).toHaveLength(5);
    const huge = { routes: [{ host: "a.test", matches: [{ paths: [{ type: "exact", value: "/".repeat(70_000) }] }] }] };
    proposals.take("ws-b", [queue.ask("p-huge", "", { proposed: huge })]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "rejected", reason: "It is too large" });
  });

  it.each([
    ["connect", { host: "a.test", connect: "127.0.0.1:22" }],
    ["ca", { host: "a.test", ca: "/etc/passwd" }],
    ["auth", { host: "a.test", auth: { scheme: "Bearer", token_command: ["id"] } }],
    ["tls", { host: "a.test", tls: "passthrough" }],
    ["secrets", { host: "a.test", secrets: ["TOKEN"] }],
    ["an address", { host: "127.0.0.1" }],
    ["every host", { host: "*" }],
    ["dlp", { host: "a.test", dlp: { outbound_detectors: [] } }],
    ["a pattern that does not compile", { host: "a.test", matches: [{ paths: [{ type: "regex", value: "(" }] }] }],
  ])("G-97: refuses a route with %s, also hidden behind others", (_name, route) => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "", { proposed: { routes: [{ host: "good.test" }, route] } })]);
    expect(proposals.list({ status: "all" }).count).toBe(0);
    expect(queue.answers).toMatchObject([{ answer: { status: "rejected" } }]);
  });
});

it("G-96: no tool of MCP queue.answers a proposal, writes a rule, or reads the queue", () => {
  for (const [name, { mcp }] of Object.entries(approvalOperations)) expect(mcp, name).toBeNull();
});

it("G-176: a gate cannot have the daemon compile patterns that are too large, whatever that gate let pass", () => {
  for (const [value, isTaken] of [
    ["/x{1000}", true],
    [`/${"x{1000}".repeat(100)}`, false],
  ] as const) {
    const checked = checkProposed("egress-block", {
      routes: [{ host: "a.test", matches: [{ paths: [{ type: "regex", value }] }] }],
    });
    expect("problem" in checked ? checked.problem : true).toEqual(
      isTaken || expect.stringContaining("repeat too much"),
    );
  }
});

describe("answering", () => {
  it("G-101: applies first, queue.answers then, and tells the gate last", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    const decided = await proposals.approve({ proposal_id: "p-a" });
    expect(queue.applied).toEqual(['{"routes":[{"host":"a.test"}]} run']);
    expect(decided).toMatchObject({ status: "approved", scope: "run", decided_by: "alice", decided_at: queue.now });
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "approved", scope: "run", valid_until: null });
    expect(await queue.told(["proposal.decided"])).toMatchObject([{ status: "approved", decided_by: "alice" }]);
    const [event] = await queue.told(["proposal.decided"]);
    expect(event).toHaveProperty("hash_before");
    expect((event as { hash_before: string }).hash_before).not.toBe(
      (event as unknown as { hash_after: string }).hash_after,
    );
  });

  it("G-96: takes one answer, also of two operators at once", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    const results = await Promise.allSettled([
      proposals.approve({ proposal_id: "p-a" }),
      proposals.approve({ proposal_id: "p-a" }),
      proposals.reject({ proposal_id: "p-a", reason: "no" }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(queue.applied).toHaveLength(1);
    for (const late of results.slice(1)) expect(late).toMatchObject({ reason: { code: "PROPOSAL_DECIDED" } });
  });

  it("G-101: is for what was shown: when that has changed, it has to be looked at again", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    queue.world = "another policy";
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toMatchObject({ code: "PROPOSAL_CHANGED" });
    expect(proposals.list({}).count).toBe(1);
    const { current_hash } = proposals.show({ proposal_id: "p-a" });
    queue.world = "a third one";
    await expect(proposals.approve({ proposal_id: "p-a", current_hash })).rejects.toMatchObject({
      code: "PROPOSAL_CHANGED",
    });
    proposals.show({ proposal_id: "p-a" });
    // Somebody else has looked; who approves what they saw before is told.
    await expect(proposals.approve({ proposal_id: "p-a", current_hash })).rejects.toMatchObject({
      code: "PROPOSAL_CHANGED",
    });
    expect(queue.applied).toEqual([]);
    expect((await proposals.approve({ proposal_id: "p-a" })).status).toBe("approved");
  });

  it("G-101: leaves it pending when it cannot be applied, and tells the agent why", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    queue.breaks = failure("GATE_FAILED", "the gate is gone");
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toMatchObject({ code: "GATE_FAILED" });
    expect(queue.world).toBe("policy");
    expect(queue.answers.at(-1)?.answer).toMatchObject({
      status: "pending",
      reason: expect.stringContaining("the gate is gone") as string,
    });
    expect(await queue.told(["proposal.failed"])).toHaveLength(1);
    queue.breaks = undefined;
    expect((await proposals.approve({ proposal_id: "p-a" })).status).toBe("approved");
  });

  it.each([
    failure("ENVIRONMENT_BUILD_FAILED", 'step 1 failed: no "/bin/x"'),
    failure("MANIFEST_INVALID", 'Cannot use "/home/ann/.cloche/bottles/dev.md"'),
    failure("DISK_FULL", "the disk is full"),
    new Error("ENOSPC: no space left, open '/home/ann/.cloche/x'"),
  ])("G-120: tells both why, whatever it is that failed, and the agent no path of the host: %s", async (error) => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    queue.breaks = error;
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toBe(error);
    const [event] = await queue.told(["proposal.failed"]);
    expect(event).toMatchObject({ proposal_id: "p-a000000000", decided_by: "alice" });
    expect((event as { reason: string }).reason).toContain(error.message);
    const heard = queue.answers.at(-1)?.answer;
    expect(heard).toMatchObject({ status: "pending", proposal_id: "p-a000000000" });
    expect(heard?.reason).toContain(error.message.split("/home")[0]?.replace(/["']$/, ""));
    expect(heard?.reason).not.toContain("/home/ann");
  });

  it("does not tell the agent of an approval of what has changed: nothing was tried", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    queue.answers = [];
    queue.world = "another policy";
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toMatchObject({ code: "PROPOSAL_CHANGED" });
    expect(queue.answers).toEqual([]);
    expect(await queue.told(["proposal.failed"])).toEqual([]);
  });

  it("takes a part of what was asked for, and something else: what was shown is what was asked for", async () => {
    const { proposals } = queue.open();
    const both = { routes: [{ host: "a.test" }, { host: "b.test" }] };
    proposals.take("ws-a", [queue.ask("p-a", "", { proposed: both })]);
    proposals.show({ proposal_id: "p-a" });
    const proposed = { routes: [{ host: "b.test" }] };
    expect(await proposals.approve({ proposal_id: "p-a", proposed })).toMatchObject({ status: "modified", proposed });
    proposals.take("ws-b", [queue.ask("p-b", "", { proposed: both })]);
    queue.world = "another policy";
    await expect(proposals.approve({ proposal_id: "p-b", proposed })).rejects.toMatchObject({
      code: "PROPOSAL_CHANGED",
    });
  });

  it("G-123: shows what would come of what the operator makes of it, and an approval may be bound to that", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    const asked = proposals.show({ proposal_id: "p-a" });
    const proposed = { routes: [{ host: "b.test", matches: [{ paths: [{ type: "regex", value: "/.*" }] }] }] };
    const shown = proposals.show({ proposal_id: "p-a", proposed });
    expect(shown.adds).toContain("any path at all");
    expect(shown).toMatchObject({ proposed, status: "pending" });
    expect(proposals.list({}).proposals).toMatchObject([{ adds: asked.adds, current_hash: asked.current_hash }]);
    expect(() => proposals.show({ proposal_id: "p-a", proposed: { routes: [] } })).toThrow(/Cannot approve it so/);
    const { current_hash } = shown;
    await expect(proposals.approve({ proposal_id: "p-a", current_hash })).rejects.toMatchObject({
      code: "PROPOSAL_CHANGED",
    });
    queue.world = "another policy";
    await expect(proposals.approve({ proposal_id: "p-a", proposed, current_hash })).rejects.toMatchObject({
      code: "PROPOSAL_CHANGED",
    });
    queue.world = "policy";
    expect(await proposals.approve({ proposal_id: "p-a", proposed, current_hash })).toMatchObject({
      status: "modified",
      adds: shown.adds,
    });
  });

  it("takes what the operator changed, and tells the agent what it got", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    const proposed = { routes: [{ host: "a.test", matches: [{ methods: ["GET"] }] }] };
    await expect(
      proposals.approve({ proposal_id: "p-a", proposed: { routes: [{ host: "x" }], more: 1 } }),
    ).rejects.toMatchObject({ code: "PROPOSAL_INVALID" });
    const decided = await proposals.approve({ proposal_id: "p-a", proposed });
    expect(decided).toMatchObject({ status: "modified", proposed });
    expect(decided.adds).toContain("GET");
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "modified", proposed });
  });

  it("asks for a reason where there has to be one, and for a scope that there is", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "", { kind: "push-allow", proposed: push }), queue.ask("p-b", "b.test")]);
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toMatchObject({ code: "REASON_REQUIRED" });
    await expect(proposals.approve({ proposal_id: "p-a", reason: " \n" })).rejects.toMatchObject({
      code: "REASON_REQUIRED",
    });
    await expect(proposals.reject({ proposal_id: "p-b", reason: "" })).rejects.toMatchObject({
      code: "REASON_REQUIRED",
    });
    await expect(proposals.approve({ proposal_id: "p-a", reason: "ok", scope: "bottle" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(proposals.approve({ proposal_id: "p-a", reason: "ok", proposed: push })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    const decided = await proposals.approve({ proposal_id: "p-a", reason: "release day" });
    expect(decided).toMatchObject({ scope: "once", reason: "release day" });
    expect(queue.answers.at(-1)?.answer.valid_until).toBeGreaterThan(queue.now);
    expect(await proposals.reject({ proposal_id: "p-b", reason: "not today" })).toMatchObject({ status: "rejected" });
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "rejected", reason: "not today" });
  });

  it("finds one by the first characters of its id", () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-aa", "a.test"), queue.ask("p-ab", "b.test")]);
    expect(proposals.show({ proposal_id: "p-aa" }).proposal_id).toBe("p-aa00000000");
    expect(() => proposals.show({ proposal_id: "p-a" })).toThrow(/Several/);
    expect(() => proposals.show({ proposal_id: "p-z" })).toThrow(/no proposal/);
    expect(() => proposals.show({ proposal_id: "%" })).toThrow(/no proposal/);
  });
});

describe("time", () => {
  it("G-100: is over after its time, is told so, and cannot be approved any more, also when the clock goes back", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-a", "a.test")]);
    queue.now += PROPOSAL_SECONDS + 1;
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toMatchObject({ code: "PROPOSAL_DECIDED" });
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "expired" });
    queue.now -= PROPOSAL_SECONDS * 2;
    await expect(proposals.approve({ proposal_id: "p-a" })).rejects.toMatchObject({ code: "PROPOSAL_DECIDED" });
    expect(await queue.told(["proposal.decided"])).toMatchObject([{ status: "expired", decided_by: null }]);
  });

  it("goes on with the next daemon: what waits waits, and a gate that missed an answer hears it", async () => {
    const first = queue.open();
    first.proposals.take("ws-a", [queue.ask("p-a", "a.test"), queue.ask("p-b", "b.test")]);
    await first.proposals.reject({ proposal_id: "p-b", reason: "no" });
    first.proposals.close();
    queue.answers = [];
    const next = queue.open().proposals;
    expect(next.list({}).proposals.map(({ proposal_id }) => proposal_id)).toEqual(["p-a000000000"]);
    next.take("ws-a", [queue.ask("p-a", "a.test"), queue.ask("p-b", "b.test")]);
    expect(queue.answers.map(({ answer }) => answer.status)).toEqual(["pending", "rejected"]);
    expect(next.list({ status: "all" }).count).toBe(2);
  });
});

describe("rules", () => {
  const routes = { routes: [{ host: "a.test", matches: [{ methods: ["GET"] }] }] };
  const settled = () => new Promise((done) => setTimeout(done, 20));

  it("G-102: answer exactly what they say, and a person queue.answers the rest", async () => {
    const { proposals, rules } = queue.open();
    const rule = rules.add({ kind: "egress-block", proposed: routes, reason: "team registry" });
    const wider = [
      { routes: [{ host: "a.test" }] },
      { routes: [...routes.routes, { host: "b.test" }] },
      { routes: [{ host: "a.test", matches: [{ methods: ["GET", "POST"] }] }] },
      { routes: [{ host: "a.test", ports: [443, 80, 22], matches: [{ methods: ["GET"] }] }] },
    ];
    proposals.take(
      "ws-a",
      wider.map((proposed, at) => queue.ask(`p-w${at}`, "", { proposed })),
    );
    proposals.take("ws-a", [
      queue.ask("p-a", "", { proposed: { routes: [{ matches: [{ methods: ["GET"] }], host: "a.test" }] } }),
    ]);
    await expect
      .poll(() => proposals.list({ status: "approved" }).proposals)
      .toMatchObject([{ proposal_id: "p-a000000000", decided_by: `rule ${rule.rule_id}`, reason: "team registry" }]);
    expect(proposals.list({}).count).toBe(wider.length);
    expect(rules.list().rules).toMatchObject([{ used: 1 }]);
  });

  it.each([
    { host: "a.test", auth: { scheme: "Bearer", token_ref: "API" }, matches: [{ methods: ["HEAD"] }] },
    { host: "*.test", connect: "127.0.0.1:9", matches: [{ methods: ["HEAD"] }] },
    { host: "a.test", ports: [22], matches: [{ methods: ["HEAD"] }] },
  ] as Route[])("G-122: leave to a person what would widen a route with more to it: %j", async (route) => {
    const { proposals, rules } = queue.open();
    rules.add({ kind: "egress-block", proposed: routes, reason: "x" });
    queue.routes = [route];
    proposals.take("ws-a", [queue.ask("p-a", "", { proposed: routes })]);
    await settled();
    expect(proposals.list({}).count).toBe(1);
    queue.routes = [{ host: "a.test", matches: [{ methods: ["HEAD"] }] }];
    proposals.take("ws-b", [queue.ask("p-b", "", { proposed: routes })]);
    await expect.poll(() => proposals.list({ status: "approved" }).count).toBe(1);
    // What the run reaches already is let out as the rule says it.
    queue.routes = [...routes.routes] as Route[];
    proposals.take("ws-c", [queue.ask("p-c", "", { proposed: routes })]);
    await expect.poll(() => proposals.list({ status: "approved" }).count).toBe(2);
  });

  it("G-180 G-185: leave to a person what passes at more ports than they say, or gets a credential in the bottle's file", async () => {
    const { proposals, rules } = queue.open();
    const proposed = { routes: [{ host: "a.test", ports: [443], matches: [{ methods: ["GET"] }] }] };
    rules.add({ kind: "egress-block", proposed, reason: "x", scope: "bottle" });
    queue.routes = [{ host: "a.test", ports: [443, 22], matches: [{ methods: ["HEAD"] }] }];
    proposals.take("ws-a", [queue.ask("p-a", "", { proposed })]);
    queue.routes = [];
    queue.bottleRoutes = [{ host: "a.test", auth: { scheme: "Bearer", token_ref: "API" }, ports: [443] }];
    proposals.take("ws-b", [queue.ask("p-b", "", { proposed })]);
    await settled();
    expect(proposals.list({}).count).toBe(2);
    queue.bottleRoutes = [{ host: "b.test" }];
    proposals.take("ws-c", [queue.ask("p-c", "", { proposed })]);
    await expect.poll(() => proposals.list({ status: "approved" }).count).toBe(1);
  });

  it("can be revoked, are for one agent where they say so, need a reason, and are told", async () => {
    const { proposals, rules } = queue.open();
    expect(() => rules.add({ kind: "egress-block", proposed: routes, reason: " " })).toThrow(/needs a reason/);
    expect(() => rules.add({ kind: "dlp-allow", proposed: {}, reason: "x" })).toThrow(/looked at by a person/);
    const other = rules.add({ kind: "egress-block", proposed: routes, reason: "x", agent_name: "another" });
    const own = rules.add({ kind: "egress-block", proposed: routes, reason: "x" });
    expect(() => rules.add({ kind: "egress-block", proposed: routes, reason: "x" })).toThrow(/for the same/);
    rules.remove({ rule_id: own.rule_id });
    expect(() => rules.remove({ rule_id: own.rule_id })).toThrow(/no rule/);
    proposals.take("ws-a", [queue.ask("p-a", "", { proposed: routes })]);
    await settled();
    expect(proposals.list({}).count).toBe(1);
    expect(rules.list().rules.map(({ rule_id }) => rule_id)).toEqual([other.rule_id]);
    expect((await queue.told(["rule.added", "rule.removed"])).map(({ kind }) => kind)).toEqual([
      "rule.added",
      "rule.added",
      "rule.removed",
    ]);
  });
});
