import { expect, it } from "vitest";
import type { GateAnswer } from "../../model/gate-control.ts";
import { MAX_PENDING_PER_RUN, MAX_PROPOSALS_PER_HOUR, MAX_PROPOSED_BYTES } from "../../model/proposal-kinds.ts";
import { AskRefused, Asks } from "./asks.ts";

const route = (host: string) =>
  ({ kind: "egress-block", justification: "docs", proposed: { routes: [{ host }] } }) as const;
const answer = (id: string, rest: Partial<GateAnswer> = {}): GateAnswer => ({
  ask_id: id,
  proposal_id: id,
  status: "approved",
  reason: null,
  proposed: null,
  scope: "run",
  valid_until: null,
  ...rest,
});
const make = (now = () => 1000) => {
  const told = { new: 0, changed: 0 };
  const asks = new Asks({ onNew: () => told.new++, onChange: () => told.changed++ }, now);
  return { asks, told };
};

it("is one proposal for the same content, whatever order its keys have, and another one for another content", () => {
  const { asks, told } = make();
  const id = asks.raise({
    kind: "egress-block",
    justification: "a",
    proposed: { routes: [{ host: "a.test", ports: [1] }] },
  });
  expect(
    asks.raise({ kind: "egress-block", justification: "b", proposed: { routes: [{ ports: [1], host: "a.test" }] } }),
  ).toBe(id);
  expect(asks.raise(route("b.test"))).not.toBe(id);
  expect(told.new).toBe(2);
  expect(asks.unanswered.map(({ justification }) => justification)).toEqual(["a", "docs"]);
});

it("tells whoever waits, once what was answered is in force, and tells it once", async () => {
  const { asks } = make();
  const id = asks.raise(route("a.test"));
  const waiting = asks.wait(id, 60_000);
  asks.hear([answer(id, { status: "rejected", reason: "not today" })]);
  let isTold = false;
  void waiting.then(() => (isTold = true));
  await new Promise((done) => setImmediate(done));
  expect(isTold).toBe(false);
  asks.wake();
  expect(await waiting).toMatchObject({ status: "rejected", reason: "not today", proposal_id: id });
  expect(asks.raise(route("a.test"))).not.toBe(id);
});

it("is pending when the wait ran out or the client went away, and the next call has the answer", async () => {
  const { asks } = make();
  const id = asks.raise(route("a.test"));
  expect(await asks.wait(id, 1)).toMatchObject({ status: "pending", proposal_id: id, reason: null });
  expect(await asks.wait(id, 60_000, AbortSignal.abort())).toMatchObject({ status: "pending" });
  asks.hear([answer(id)]);
  asks.wake();
  expect(asks.raise(route("a.test"))).toBe(id);
  expect(await asks.wait(id, 60_000)).toMatchObject({ status: "approved" });
});

it("tells why an approval could not be applied, and waits on", async () => {
  const { asks } = make();
  const id = asks.raise(route("a.test"));
  const waiting = asks.wait(id, 60_000);
  asks.hear([answer(id, { status: "pending", reason: "the gate did not load it" })]);
  asks.wake();
  expect(await waiting).toMatchObject({ status: "pending", reason: "the gate did not load it" });
  expect(asks.unanswered).toHaveLength(1);
});

it("has what a killed gate had: what is unanswered, and answers that nobody was told", async () => {
  const { asks } = make();
  const [one, other] = [asks.raise(route("a.test")), asks.raise(route("b.test"))];
  asks.hear([answer(other)]);
  const next = make().asks;
  next.restore(JSON.parse(JSON.stringify(asks.kept)) as typeof asks.kept);
  expect(next.unanswered.map(({ ask_id }) => ask_id)).toEqual([one]);
  expect(await next.wait(next.raise(route("b.test")), 0)).toMatchObject({ status: "approved", proposal_id: other });
});

it("G-95: takes neither more proposals than an operator can look at nor larger ones", () => {
  const { asks } = make();
  for (let at = 0; at < MAX_PENDING_PER_RUN; at++) asks.raise(route(`h${at}.test`));
  expect(() => asks.raise(route("one-more.test"))).toThrow(AskRefused);
  expect(() => make().asks.raise(route("x".repeat(MAX_PROPOSED_BYTES)))).toThrow(AskRefused);
});

it("forgets what no daemon has taken in all its time", () => {
  let now = 1000;
  const { asks } = make(() => now);
  asks.raise(route("a.test"));
  now += 25 * 3600;
  asks.raise(route("b.test"));
  expect(asks.unanswered).toHaveLength(1);
});

it("G-121: asks so many times in an hour and no more; what an earlier answer answers does not count", async () => {
  let now = 1000;
  const { asks } = make(() => now);
  const askAndHear = async (host: string, proposal?: string) => {
    const id = asks.raise(route(host));
    asks.hear([answer(id, { proposal_id: proposal ?? id, status: "rejected" })]);
    await asks.wait(id, 0);
  };
  for (let nth = 0; nth < MAX_PROPOSALS_PER_HOUR - 1; nth++) await askAndHear(`h${nth}.test`);
  for (let nth = 0; nth < 10; nth++) await askAndHear("h0.test", "p-earlier000");
  await askAndHear("last.test");
  await expect(askAndHear("more.test")).rejects.toThrow(AskRefused);
  now += 3600;
  await askAndHear("more.test");
});
