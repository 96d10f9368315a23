import { setMaxListeners } from "node:events";
import { expect, it } from "vitest";
import type { GateAnswer } from "../../model/gate-control.ts";
import { AskedRequests, type HeldRequest } from "./held-requests.ts";
import { SuperviseGate } from "./supervise-gate.ts";

const finding = {
  detector: "known_secrets",
  rule: "known-secret",
  name: "TOKEN",
  severity: "high",
  place: "body",
  offset: 0,
  length: 1,
  view: "raw",
} as const;
const request = (rest: Partial<HeldRequest> = {}): HeldRequest => ({
  method: "POST",
  scheme: "https",
  host: "a.test",
  port: 443,
  target: "/x?y=1",
  headers: ["date", "now"],
  body: Buffer.from("hunter2-value"),
  findings: [finding],
  shown: { host: "a.test", path: "/x" },
  ...rest,
});
const never = new AbortController().signal;

function make(waitMs = 60_000) {
  const gate = new SuperviseGate({ onNew: () => undefined, onChange: () => undefined });
  const held = new AskedRequests(gate, waitMs);
  const answer = (rest: Partial<GateAnswer>) => {
    const [ask] = gate.asks.unanswered;
    const id = ask?.ask_id ?? "";
    gate.hear([
      {
        ask_id: id,
        proposal_id: id,
        status: "approved",
        reason: null,
        proposed: null,
        scope: "once",
        valid_until: Date.now() / 1000 + 60,
        ...rest,
      },
    ]);
    return id;
  };
  return { gate, held, answer };
}

it("G-104: holds a request until it is let pass, and asks without the value", async () => {
  const { gate, held, answer } = make();
  const waiting = held.decide(request(), never);
  expect(JSON.stringify(gate.asks.unanswered)).not.toContain("hunter2");
  expect(gate.asks.unanswered).toMatchObject([{ kind: "dlp-allow", command: "POST https://a.test:443/x" }]);
  answer({});
  expect(await waiting).toBeUndefined();
  expect(gate.grants.kept).toEqual([]);
});

it("refuses what was rejected, with the reason", async () => {
  const { held, answer } = make();
  const waiting = held.decide(request(), never);
  const id = answer({ status: "rejected", reason: "not there", scope: null, valid_until: null });
  expect(await waiting).toMatchObject({
    message: expect.stringContaining("rejected: not there") as string,
    proposal_id: id,
  });
});

it("G-99: lets the same request pass once when the approval comes late, and nothing that is not the same", async () => {
  const { gate, held, answer } = make(1);
  const late = await held.decide(request(), never);
  expect(late?.hint).toContain("Send the same request again later");
  const id = answer({});
  expect(late?.proposal_id).toBe(id);
  for (const other of [
    { body: Buffer.from("hunter3-value") },
    { target: "/x?y=2" },
    { host: "b.test" },
    { method: "PUT" },
    { port: 80 },
  ])
    expect(await held.decide(request(other), never)).toMatchObject({
      proposal_id: expect.not.stringMatching(id) as string,
    });
  // A header in which nothing was found may be another one.
  expect(await held.decide(request({ headers: ["date", "later"] }), never)).toBeUndefined();
  // What comes next is asked for anew.
  const next = await held.decide(request(), never);
  expect(next?.message).toContain("has been asked");
  expect(next?.proposal_id).not.toBe(id);
  expect(gate.grants.kept).toEqual([]);
});

it("G-99: is bound to a header in which something was found", async () => {
  const { held, answer } = make(1);
  const inHeader = { findings: [{ ...finding, place: "header:cookie" }] };
  await held.decide(request({ ...inHeader, headers: ["Cookie", "one"] }), never);
  answer({});
  expect(await held.decide(request({ ...inHeader, headers: ["Cookie", "two"] }), never)).toBeDefined();
  expect(await held.decide(request({ ...inHeader, headers: ["Cookie", "one"] }), never)).toBeUndefined();
});

it("lets all pass that take the same to the same host when it is approved for the run", async () => {
  const { held, answer } = make(1);
  await held.decide(request(), never);
  answer({ scope: "run", valid_until: null });
  for (const target of ["/a", "/b"]) expect(await held.decide(request({ target }), never)).toBeUndefined();
  expect(await held.decide(request({ host: "b.test", shown: { host: "b.test", path: "/" } }), never)).toBeDefined();
  expect(await held.decide(request({ findings: [{ ...finding, name: "OTHER" }] }), never)).toBeDefined();
});

it("G-181: an approval for the run is for all that was found, however much stands before the rest of it", async () => {
  const { gate, held, answer } = make(1);
  const { name: _name, ...unnamed } = finding;
  const many = Array.from({ length: 70 }, (_, offset) => ({
    ...unnamed,
    detector: "tokens" as const,
    rule: "aws-access-key-id",
    offset,
  }));
  await held.decide(request({ findings: many }), never);
  const [ask] = gate.asks.unanswered;
  expect((ask?.proposed as { findings?: unknown[] } | undefined)?.findings).toHaveLength(1);
  answer({ scope: "run", valid_until: null });
  expect(await held.decide(request({ findings: many, target: "/other" }), never)).toBeUndefined();
  // The value of a secret behind them is something else, and is shown.
  expect(await held.decide(request({ findings: [...many, finding] }), never)).toBeDefined();
  expect(JSON.stringify(gate.asks.unanswered[0]?.proposed)).toContain("TOKEN");
});

it("G-181: asks nobody about more kinds of findings than can be shown", async () => {
  const { gate, held } = make(1);
  const findings = Array.from({ length: 65 }, (_, at) => ({ ...finding, name: `NAME_${at}` }));
  expect(await held.decide(request({ findings }), never)).toMatchObject({
    message: expect.stringContaining("the operator cannot be asked") as string,
    proposal_id: null,
  });
  expect(gate.asks.unanswered).toEqual([]);
});

it("G-104: has no more than some requests wait, and none that is gone; all are asked for", async () => {
  const { gate, held, answer } = make();
  const gone = new AbortController();
  setMaxListeners(32, gone.signal);
  const waiting = Array.from({ length: 16 }, (_, at) => held.decide(request({ target: `/${at}` }), gone.signal));
  expect(await held.decide(request({ target: "/more" }), never)).toMatchObject({
    message: expect.stringContaining("has been asked") as string,
  });
  expect(gate.asks.unanswered).toHaveLength(17);
  gone.abort();
  await Promise.all(waiting);
  expect(await held.decide(request({ target: "/17", body: Buffer.alloc(5 * 1024 * 1024) }), never)).toBeDefined();
  answer({});
});
