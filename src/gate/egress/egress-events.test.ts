import { expect, it } from "vitest";
import type { EgressEvent, GateEvent } from "../../model/gate-control.ts";
import { EgressEvents } from "./egress-events.ts";

const request = (host: string, credentials: readonly string[], kind: "request" | "denied" = "request"): EgressEvent => {
  const facts = {
    method: "GET",
    host,
    port: 443,
    path: "/",
    rule: null,
    bytes_sent: 0,
    bytes_received: 0,
    duration_ms: 1,
    injected: credentials.length > 0,
    credentials,
    findings: [],
    model_usage: null,
  };
  return kind === "request"
    ? { ...facts, kind: "egress.request", status: 200 }
    : { ...facts, kind: "egress.denied", code: "EGRESS_DENIED" };
};

/** All that a daemon takes that comes now. */
function taken(events: EgressEvents): { events: GateEvent[]; lost: number } {
  const all: GateEvent[] = [];
  let lost = 0;
  for (let next = events.after(0, 100); next; next = events.after(0, 100)) {
    all.push(...next.events);
    lost += next.lost;
    events.heard(next.through);
  }
  return { events: all, lost };
}

const usesIn = (events: readonly GateEvent[]) =>
  events.flatMap((event) =>
    event.kind === "credential.used" ? [[event.host, event.credentials.join(), event.requests]] : [],
  );

it("keeps what no daemon takes, and says how much it has dropped", () => {
  const events = new EgressEvents(() => undefined);
  for (let at = 0; at < 2500; at++) events.record(request(`h${at}.test`, [], "denied"));
  const { events: all, lost } = taken(events);
  expect([all.length, lost]).toEqual([2000, 500]);
  expect(taken(events)).toEqual({ events: [], lost: 0 });
});

it("G-113 tells of the use of a credential, however much an agent has told after it", () => {
  const events = new EgressEvents(() => undefined);
  for (let at = 0; at < 3; at++) events.record(request("api.test", ["API_TOKEN"]));
  events.used(["OTHER"], "quiet.test", 443);
  for (let at = 0; at < 10_000; at++) {
    if (at === 5000) events.record(request("api.test", ["API_TOKEN"]));
    events.record(request(`h${at}.test`, [], "denied"));
  }
  const { events: all, lost } = taken(events);
  expect(usesIn(all).sort()).toEqual([
    ["api.test", "API_TOKEN", 4],
    ["quiet.test", "OTHER", 1],
  ]);
  expect(all).toHaveLength(2002);
  expect(lost).toBeGreaterThan(8000);
});

it("G-113 takes bounded memory for that, whatever the hosts are, and leaves no use out", () => {
  const events = new EgressEvents(() => undefined);
  for (let at = 0; at < 5000; at++) events.record(request(`h${at}.wide.test`, ["API_TOKEN"]));
  const first = events.after(0, 100);
  // A daemon has begun to take them, and has not said yet that it has them.
  for (let at = 0; at < 5000; at++) events.record(request(`h${at}.test`, [], "denied"));
  if (first) events.heard(first.through);
  const { events: all } = taken(events);
  expect(all.length).toBeLessThanOrEqual(2000 + 65);
  const whole = [...(first?.events ?? []), ...all];
  const told = usesIn(whole).reduce((sum, [, , count]) => sum + Number(count), 0);
  const requests = whole.filter((event) => event.kind === "egress.request").length;
  expect(told + requests).toBeGreaterThanOrEqual(5000);
  expect(usesIn(all).length).toBeLessThanOrEqual(2 * 66);
});
