import { expect, it } from "vitest";
import { gateRoute } from "../../policy/egress/gate-routes.ts";
import type { Destination } from "./dial.ts";
import { PATIENCE } from "./patience.ts";
import { Upstreams } from "./upstreams.ts";

const routeTo = (host: string, connect: string) =>
  gateRoute(
    { host, connect, ports: [443] },
    { ca: () => "", token: () => ({ token: null, problem: null }), onMatch: "block" },
  );
const route = routeTo("*.example.test", "127.0.0.1:1");
const to: Destination = { scheme: "https", host: "a.example.test", port: 443, route };
const wayOut: { proxy: string | null; ca: null } = { proxy: null, ca: null };

const others: [string, Destination, typeof wayOut][] = [
  ["host", { ...to, host: "b.example.test" }, wayOut],
  ["port", { ...to, port: 8443 }, wayOut],
  ["scheme", { ...to, scheme: "http" }, wayOut],
  ["address", { ...to, route: routeTo("*.example.test", "127.0.0.1:2") }, wayOut],
  ["authority", { ...to, route: { ...route, ca: "another one" } }, wayOut],
  ["way out", to, { ...wayOut, proxy: "http://127.0.0.1:3" }],
];

it.each(others)(
  "shares no connection with an upstream of another %s, whichever was asked last",
  (_what, other, way) => {
    const upstreams = new Upstreams(PATIENCE);
    const first = upstreams.origin(to, wayOut);
    const second = upstreams.origin(other, way);
    expect(second).not.toBe(first);
    expect(upstreams.origin(other, way)).toBe(second);
    expect(upstreams.origin(to, wayOut)).toBe(first);
  },
);

it("keeps its connections when an order comes that says the same", () => {
  const upstreams = new Upstreams(PATIENCE);
  const first = upstreams.origin(to, wayOut);
  expect(upstreams.origin({ ...to, route: { ...route } }, { ...wayOut })).toBe(first);
});
