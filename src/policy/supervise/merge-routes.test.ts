import { expect, it } from "vitest";
import type { Route } from "../../model/egress.ts";
import { mergeRoutes, routesFor, shadowed } from "./merge-routes.ts";

const paths = (...values: string[]) => [{ paths: values.map((value) => ({ type: "prefix" as const, value })) }];

it("adds matches and ports to the route of a host, and keeps where it leads, whom it trusts and what goes along", () => {
  const there: Route = {
    host: "a.test",
    ports: [443],
    connect: "127.0.0.1:8443",
    ca: "/ca.pem",
    secrets: ["NAME"],
    auth: { scheme: "Bearer", token_ref: "TOKEN" },
    matches: paths("/one"),
    dlp: { outbound_on_match: "redact" },
  };
  const [merged, ...others] = mergeRoutes(
    [there],
    [{ host: "a.test", ports: [8443], matches: paths("/two", "/one") }],
    "block",
  );
  expect(others).toEqual([]);
  expect(merged).toEqual({ ...there, ports: [443, 8443], matches: [...paths("/one"), ...paths("/two", "/one")] });
});

it("does not narrow a route that lets everything out, and opens one that is asked for whole", () => {
  expect(mergeRoutes([{ host: "a.test" }], [{ host: "a.test", matches: paths("/x") }], "block")).toEqual([
    { host: "a.test" },
  ]);
  expect(mergeRoutes([{ host: "a.test", matches: paths("/x") }], [{ host: "a.test" }], "block")).toEqual([
    { host: "a.test" },
  ]);
  const tunnel: Route = { host: "a.test", tls: "passthrough" };
  expect(mergeRoutes([tunnel], [{ host: "a.test", matches: paths("/x") }], "block")).toEqual([tunnel]);
});

it("puts a host before the wider route that covers it, with what that one has", () => {
  const wide: Route = { host: "*.a.test", connect: "127.0.0.1:1", matches: paths("/x") };
  const merged = mergeRoutes([{ host: "b.test" }, wide], [{ host: "c.a.test", matches: paths("/y") }], "block");
  expect(merged).toEqual([
    { host: "b.test" },
    { ...wide, host: "c.a.test", matches: [...paths("/x"), ...paths("/y")] },
    wide,
  ]);
  expect(shadowed(merged, [{ host: "c.a.test" }])).toBeUndefined();
  expect(shadowed([wide, { host: "c.a.test" }], [{ host: "c.a.test" }])).toEqual({ host: "c.a.test", by: "*.a.test" });
});

it("adds a host that nobody covers at the end, held or refused as the others", () => {
  expect(mergeRoutes([{ host: "a.test" }], [{ host: "b.test", ports: [443] }], "supervise")).toEqual([
    { host: "a.test" },
    { host: "b.test", ports: [443], dlp: { outbound_on_match: "supervise" } },
  ]);
});

it("is about the routes that decide for its hosts, and no others", () => {
  const routes: Route[] = [{ host: "a.test" }, { host: "*.b.test" }, { host: "x.c.test" }, { host: "d.test" }];
  expect(routesFor(routes, [{ host: "y.b.test" }, { host: "*.c.test" }]).map(({ host }) => host)).toEqual([
    "*.b.test",
    "x.c.test",
  ]);
});
