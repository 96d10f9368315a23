import { expect, it } from "vitest";
import type { HeldPush } from "../git/held-pushes.ts";
import { AskedPushes } from "./asked-pushes.ts";
import { SuperviseGate } from "./supervise-gate.ts";

const push: HeldPush = {
  repo: "app",
  digest: "d".repeat(64),
  commands: [{ ref: "refs/heads/release\u001b", old: "0".repeat(40), new: "1".repeat(40) }],
  options: ["ci.skip", "token=hunter2"],
  failures: [{ step: "refs", text: "release is no branch of hunter2", ref: null }],
};
const never = new AbortController().signal;

function make(waitMs = 60_000) {
  const gate = new SuperviseGate({ onNew: () => undefined, onChange: () => undefined });
  const held: string[] = [];
  const told = {
    redact: (text: string) => text.replaceAll("hunter2", "****"),
    onHeld: (_push: HeldPush, id: string) => held.push(id),
  };
  const pushes = new AskedPushes(gate, told, waitMs);
  const answer = (status: "approved" | "rejected", reason: string | null) => {
    const id = gate.asks.unanswered[0]?.ask_id ?? "";
    gate.hear([
      { ask_id: id, proposal_id: id, status, reason, proposed: null, scope: null, valid_until: Date.now() / 1000 + 60 },
    ]);
    return id;
  };
  return { gate, pushes, answer, held };
}

it("has a push wait, tells its client for what, and lets it go on", async () => {
  const { gate, pushes, answer, held } = make();
  const said: string[] = [];
  const waiting = pushes.decide(push, (text) => said.push(text), never);
  const [ask] = gate.asks.unanswered;
  expect(said.join("")).toContain(ask?.ask_id);
  expect(held).toEqual([ask?.ask_id]);
  expect(JSON.stringify(ask)).not.toMatch(/hunter2|\\u001b/);
  expect(ask).toMatchObject({
    proposed: { options: ["ci.skip", "token=****"] },
    command: "git push -o ci.skip -o token=**** app refs/heads/release?",
  });
  answer("approved", "release day");
  expect(await waiting).toMatchObject({ isApproved: true });
});

it("refuses with the operator's reason", async () => {
  const { pushes, answer } = make();
  const waiting = pushes.decide(push, () => undefined, never);
  answer("rejected", "not on a Friday");
  expect(await waiting).toMatchObject({
    isApproved: false,
    reason: expect.stringContaining("not on a Friday") as string,
  });
});

it("G-99: lets the same ids pass once when the approval comes late, and no others", async () => {
  const { pushes, answer } = make(1);
  const late = await pushes.decide(push, () => undefined, never);
  expect(late.reason).toContain("push the same again later");
  answer("approved", "x");
  expect(await pushes.decide({ ...push, digest: "e".repeat(64) }, () => undefined, never)).toMatchObject({
    isApproved: false,
  });
  expect(await pushes.decide(push, () => undefined, never)).toMatchObject({ isApproved: true });
  expect(await pushes.decide(push, () => undefined, never)).toMatchObject({ isApproved: false });
});

it("G-127: has nothing approved that the operator is not shown, and says when there is more than that", async () => {
  const { gate, pushes } = make(1);
  const [command] = push.commands;
  if (!command) throw new Error("no command");
  for (const more of [
    { commands: Array.from({ length: 257 }, () => command) },
    { options: Array.from({ length: 17 }, () => "o") },
    { options: ["o".repeat(257)] },
    // Two that differ behind what is shown would look like one.
    { commands: [{ ...command, ref: `refs/heads/agent/${"x".repeat(256)}` }] },
  ])
    expect(await pushes.decide({ ...push, ...more }, () => undefined, never)).toMatchObject({
      isApproved: false,
      reason: expect.stringContaining("push fewer") as string,
    });
  expect(gate.asks.unanswered).toEqual([]);
  const failures = Array.from({ length: 100 }, (_, at) => ({ step: "paths", text: `path ${at}`, ref: null }) as const);
  await pushes.decide({ ...push, failures }, () => undefined, never);
  const shown = (gate.asks.unanswered[0]?.proposed as { failures?: unknown[] } | undefined)?.failures ?? [];
  expect([shown.length, shown.at(-1)]).toEqual([
    64,
    { step: "paths", text: "and 37 failures more, which are not shown here" },
  ]);
});
