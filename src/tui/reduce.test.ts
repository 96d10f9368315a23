import { describe, expect, it } from "vitest";
import { WATCHED_KINDS } from "./on-event.ts";
import { eventOf, PlayedOperator, proposalOf, runOf } from "../../test/helpers/operator-state.ts";

const played = () => new PlayedOperator();
const created = (number: number) => {
  const { proposal_id, justification, adds, proposed, command, current_hash, expires_at } = proposalOf(number);
  const told = { proposal_id, justification, adds, proposed, command, current_hash, expires_at };
  return { type: "event", event: eventOf("proposal.created", { ...told, proposal_kind: "egress-block" }) } as const;
};
const decided = (number: number, by = "ann") =>
  ({
    type: "event",
    event: eventOf("proposal.decided", {
      proposal_id: proposalOf(number).proposal_id,
      proposal_kind: "egress-block",
      status: "approved",
      reason: null,
      decided_by: by,
      scope: "run",
      adds: "",
      proposed: {},
      hash_before: "",
      hash_after: "",
    }),
  }) as const;

describe("the list", () => {
  it("shows a proposal as its event tells it, without asking for more", () => {
    const operator = played().list([]).send(created(7));
    expect(operator.screen).toContain("Requests to docs.example.com may go out.");
    expect(operator.effects).toEqual([]);
  });

  it("takes an event that comes twice once", () => {
    expect(played().list([]).send(created(7), created(7)).state.proposals).toHaveLength(1);
  });

  it("is oldest first, and what comes does not move what is chosen", () => {
    const operator = played().list([proposalOf(2), proposalOf(1)]);
    expect(operator.state.chosen).toBe(proposalOf(1).proposal_id);
    operator.press("down").send(created(3), decided(1));
    expect(operator.state.chosen).toBe(proposalOf(2).proposal_id);
    expect(operator.lines[2]).toContain("> ");
  });

  it("chooses the next one when the chosen one is answered elsewhere", () => {
    const operator = played()
      .list([1, 2, 3].map((number) => proposalOf(number)))
      .press("down");
    operator.send(decided(2));
    expect(operator.state.chosen).toBe(proposalOf(3).proposal_id);
    expect(operator.screen).toContain("was approved for the run by ann");
  });

  it("shows a window of a thousand, around the chosen one", () => {
    const operator = played().list(Array.from({ length: 1000 }, (_, at) => proposalOf(at)));
    expect(operator.press("end").state.chosen).toBe(proposalOf(999).proposal_id);
    expect(operator.screen).toContain("(1000 of 1000)");
    expect(operator.lines).toHaveLength(23);
    operator.press("page-up", "k", "kk");
    expect(operator.lines.filter((line) => line.startsWith("> "))).toHaveLength(1);
    expect(operator.press("home").state.listTop).toBe(0);
  });

  it("asks for all again after a gap, and for the runs when one begins", () => {
    const gap = { type: "event", event: eventOf("log.gap", { first_missing: 1, last_missing: 2 }) } as const;
    const told = {
      ...{ agent_name: "reviewer", bottle_names: [], backend: "container", label: null, operator: "me" },
      ...{ environment: "host", environment_digest: null, policy_hash: null, resumed: false },
    };
    const operator = played().send(gap, { type: "event", event: eventOf("run.started", told) });
    expect(operator.effects).toEqual([{ type: "list" }, { type: "list-runs" }]);
  });
});

describe("an answer", () => {
  it.each([
    ["o", "once"],
    ["r", "run"],
    ["b", "bottle"],
  ])("by %s is an approval of scope %s, bound to what was shown", (key, scope) => {
    const operator = played().open(proposalOf(1)).press(key);
    expect(operator.effects.at(-1)).toEqual({
      type: "approve",
      proposalId: proposalOf(1).proposal_id,
      scope,
      reason: null,
      draft: null,
      currentHash: "h-1",
    });
    expect(
      operator.press(key).effects.filter(({ type }) => type === "approve"),
      "a second key",
    ).toHaveLength(1);
  });

  it("cannot be given from the list, nor before the proposal is on the screen", () => {
    const operator = played()
      .list([proposalOf(1)])
      .press("o", "r", "b", "x", "e", "enter", "o", "r", "b", "x");
    expect(operator.effects).toEqual([{ type: "load", proposalId: proposalOf(1).proposal_id }]);
    expect(operator.state.question).toBeNull();
  });

  it("cannot be pasted [G-129]", () => {
    const operator = played().open(proposalOf(1)).press("ob", "rr", "x y", "oo");
    expect(operator.effects.filter(({ type }) => type !== "load")).toEqual([]);
    expect(operator.state.question).toBeNull();
  });

  it("cannot be an approval before all that it changes was on the screen, however one gets to the end [G-129]", () => {
    const after = Array.from({ length: 60 }, (_, at) => ({ host: `h${at}.example.com` }));
    const operator = played().open(proposalOf(1, { after }));
    const approvals = () => operator.effects.filter(({ type }) => type === "approve");
    expect(operator.press("r").screen).toContain("There is more that it changes");
    operator.press("end", "r");
    expect(approvals(), "after a jump").toEqual([]);
    operator.press("home", "page-down", "page-down", "r");
    expect(approvals(), "half way").toEqual([]);
    operator.press("page-down", "r");
    expect(approvals()).toHaveLength(1);
  });

  it("has to be read again at another width [G-129]", () => {
    const after = Array.from({ length: 30 }, (_, at) => ({ host: `h${at}.example.com` }));
    const operator = played().open(proposalOf(1, { after })).press("page-down", "page-down");
    operator.send({ type: "size", cols: 60, rows: 24 }).press("r");
    expect(operator.effects.filter(({ type }) => type === "approve")).toEqual([]);
  });

  it("is of a scope that the kind has", () => {
    const operator = played()
      .open(proposalOf(1, { kind: "push-allow" }))
      .press("b");
    expect(operator.screen).toContain("is not approved into the bottle's file, but once");
    expect(operator.state.question).toBeNull();
  });

  it("has a reason where one is needed, and an empty one is none", () => {
    const held = proposalOf(1, { kind: "dlp-allow" });
    const operator = played().open(held).press("o", " ", "enter");
    expect(operator.screen).toContain("Say why: it needs a reason");
    expect(operator.effects.filter(({ type }) => type === "approve")).toEqual([]);
    operator.press("a", "b", "backspace", " test", " key", "enter");
    expect(operator.effects.at(-1)).toMatchObject({ type: "approve", scope: "once", reason: "a test key" });
  });

  it("of no is a rejection with its reason, of one line, whatever was pasted", () => {
    const operator = played().open(proposalOf(1)).press("x", "enter");
    expect(operator.screen).toContain("Say why");
    operator.press("not\nthat \u001B[31mhost", "enter");
    const reject = { type: "reject", proposalId: proposalOf(1).proposal_id, reason: "not that [31mhost" };
    expect(operator.effects.at(-1)).toEqual(reject);
  });

  it("is not given when the question is left", () => {
    const operator = played().open(proposalOf(1)).press("x", "w", "escape");
    expect(operator.state.question).toBeNull();
    expect(operator.effects.filter(({ type }) => type === "reject")).toEqual([]);
    expect(operator.state.opened, "and the proposal stays open").not.toBeNull();
  });

  it("that is given goes on to the list", () => {
    const operator = played().open(proposalOf(1)).press("r");
    operator.send({
      type: "answered",
      proposal: proposalOf(1, { status: "approved", scope: "run", decided_by: "me" }),
    });
    expect(operator.state).toMatchObject({ opened: null, proposals: [], notice: { tone: "plain" } });
    expect(operator.screen).toContain("was approved for the run by me");
  });

  it("that another operator gives is told to whoever looks at it, and is the last", () => {
    const operator = played().open(proposalOf(1)).press("x").send(decided(1, "bob"));
    expect(operator.screen).toContain("was approved for the run by bob");
    operator.press("r", "x", "o");
    expect(operator.effects.map(({ type }) => type)).toEqual(["load"]);
    expect(operator.press("escape").state.opened).toBeNull();
  });

  it("that is refused says why; what has changed is shown anew, and has to be read again", () => {
    const operator = played().open(proposalOf(1)).press("r");
    const { proposal_id: proposalId } = proposalOf(1);
    operator.send({ type: "refused", proposalId, text: "It is not as it was", look: true });
    expect(operator.screen).toContain("It is not as it was");
    expect(operator.effects.at(-1)).toEqual({ type: "load", proposalId });
    const after = Array.from({ length: 60 }, (_, at) => ({ host: `h${at}.example.com` }));
    operator.send({ type: "detail", detail: proposalOf(1, { current_hash: "h-2", after }) }).press("r");
    expect(operator.effects.filter(({ type }) => type === "approve")).toHaveLength(1);
    operator.press("page-down", "page-down", "page-down", "page-down", "r");
    expect(operator.effects.at(-1)).toMatchObject({ type: "approve", currentHash: "h-2" });
  });

  it("cannot be given while the daemon is lost, which is told", () => {
    const operator = played().open(proposalOf(1)).send({ type: "connection", isConnected: false }).press("r");
    expect(operator.screen).toContain("daemon lost");
    expect(operator.effects.filter(({ type }) => type === "approve")).toEqual([]);
    operator.send({ type: "connection", isConnected: true }).press("r");
    expect(operator.effects.at(-1)).toMatchObject({ type: "approve" });
  });

  it("that could not be applied leaves the proposal where it is", () => {
    const operator = played().open(proposalOf(1)).press("r");
    const { proposal_id } = proposalOf(1);
    const told = { proposal_id, proposal_kind: "egress-block", reason: "the gate said no", decided_by: "ann" } as const;
    operator.send({ type: "event", event: eventOf("proposal.failed", told) });
    expect(operator.screen).toContain("could not be applied, and waits on: the gate said no");
    expect(operator.state.answering.size).toBe(0);
  });
});

describe("a change in the editor", () => {
  const edited = {
    type: "drafted",
    proposalId: proposalOf(1).proposal_id,
    proposed: { routes: [{ host: "x.org" }] },
  } as const;

  const known = {
    type: "draft-shown",
    proposed: edited.proposed,
    detail: proposalOf(1, {
      adds: "Everything goes out to x.org.",
      current_hash: "h-draft",
      after: edited.proposed.routes,
    }),
  } as const;

  it("is shown, and approved by a key of its own", () => {
    const operator = played().open(proposalOf(1)).press("e");
    expect(operator.effects.at(-1)).toMatchObject({ type: "edit", proposed: proposalOf(1).proposed });
    operator.send(edited);
    expect(operator.screen).toMatch(/What you made of it[^]*- {3}- host: docs\.example\.com\n\+ {3}- host: x\.org/);
    expect(operator.effects.at(-1)).toEqual({ ...edited, type: "load-draft" });
    operator.send(known);
    expect(operator.effects.filter(({ type }) => type === "approve")).toEqual([]);
    expect(operator.press("o").effects.at(-1)).toMatchObject({
      draft: { proposed: edited.proposed },
      currentHash: "h-draft",
    });
  });

  it("G-123: is not approved before its own sentence and its own change of the policy were on the screen", () => {
    const operator = played().open(proposalOf(1)).send(edited);
    const approvals = () => operator.effects.filter(({ type }) => type === "approve");
    expect(operator.press("r").screen).toContain("What it adds now is not known");
    operator.send({ ...known, proposed: { routes: [] } });
    operator.press("r", "o", "b");
    expect(approvals(), "another draft's").toEqual([]);
    const after = Array.from({ length: 30 }, (_, at) => ({ host: `h${at}.example.com` }));
    operator.send({ ...known, detail: { ...known.detail, after } });
    expect(operator.screen).toContain("It adds\nEverything goes out to x.org.");
    expect(operator.screen).not.toContain("Requests to docs.example.com may go out.");
    operator.press("r");
    expect(approvals(), "below the edge").toEqual([]);
    operator.press("page-down", "page-down", "page-down", "r");
    expect(approvals()).toHaveLength(1);
  });

  it("is asked about again when the policy has changed", () => {
    const operator = played().open(proposalOf(1)).send(edited, known).press("r");
    operator.send({ type: "refused", proposalId: edited.proposalId, text: "It is not as it was", look: true });
    operator.send({ type: "detail", detail: proposalOf(1, { current_hash: "h-2" }) });
    expect(operator.effects.at(-1)).toEqual({ ...edited, type: "load-draft" });
    operator.press("r");
    expect(operator.effects.filter(({ type }) => type === "approve")).toHaveLength(1);
  });

  it("is edited again from where it was, and dropped before the proposal is left", () => {
    const operator = played().open(proposalOf(1)).send(edited).press("e");
    expect(operator.effects.at(-1)).toMatchObject({ type: "edit", proposed: edited.proposed });
    expect(operator.press("escape").state.opened).toMatchObject({ draft: null });
    expect(operator.press("escape").state.opened).toBeNull();
  });

  it("that changes nothing is none", () => {
    const operator = played()
      .open(proposalOf(1))
      .send({ ...edited, proposed: proposalOf(1).proposed });
    expect(operator.state.opened?.draft).toBeNull();
    expect(operator.screen).toContain("Nothing was changed, and nothing was approved");
  });

  it("is not there for what is held", () => {
    const operator = played()
      .open(proposalOf(1, { kind: "push-allow" }))
      .press("e");
    expect(operator.effects.filter(({ type }) => type === "edit")).toEqual([]);
    expect(operator.screen).toContain("It cannot be changed");
  });
});

describe("the runs", () => {
  it("are attached to and stopped, the latter after a question", () => {
    const operator = played()
      .list([], [runOf("a-1"), runOf("b-2")])
      .press("tab", "down", "a");
    expect(operator.effects).toEqual([{ type: "attach", identity: "b-2" }]);
    operator.press("s", "n");
    expect(operator.effects).toHaveLength(1);
    expect(operator.press("s").screen).toContain("Stop the agent of b-2? y/n");
    expect(operator.press("y").effects.at(-1)).toEqual({ type: "stop", identity: "b-2" });
  });

  it("without a terminal are not attached to", () => {
    const operator = played()
      .list([], [runOf("a-1", { has_terminal: false })])
      .press("tab", "enter");
    expect(operator.effects).toEqual([]);
    expect(operator.screen).toContain("has no terminal");
  });

  it("are told of when they have used most of what they may, and when they say that they are done", () => {
    const near = eventOf("budget.near", { resource: "model_tokens", used: 810, limit: 1000 });
    const operator = played().list([], [runOf("a-1")]);
    for (const event of [near, eventOf("run.done", { summary: "all tests pass" })])
      expect(WATCHED_KINDS).toContain(event.kind);
    expect(operator.send({ type: "event", event: near }).screen).toContain(
      "reviewer-k3x9a has used 810 of 1000 tokens of models",
    );
    operator.send({ type: "event", event: eventOf("run.done", { summary: "all tests pass" }) });
    expect(operator.screen).toContain("reviewer-k3x9a says that it is done: all tests pass");
  });

  it("leave the list when they end", () => {
    const ended = {
      ...eventOf("run.ended", { exit_code: 0, kept: false, reason: null, has_changes: false }),
      identity: "a-1",
    };
    const operator = played()
      .list([], [runOf("a-1"), runOf("b-2")])
      .send({ type: "event", event: ended });
    expect(operator.state.runs.map(({ identity }) => identity)).toEqual(["b-2"]);
  });
});

it("quits from the list and by Ctrl-C from anywhere", () => {
  expect(played().list([]).press("q").effects).toEqual([{ type: "quit" }]);
  const asked = played().open(proposalOf(1)).press("x", "q");
  expect(asked.effects.map(({ type }) => type)).toEqual(["load"]);
  expect(asked.send({ type: "key", key: { name: "interrupt" } }).effects.at(-1)).toEqual({ type: "quit" });
});
