import { describe, expect, it } from "vitest";
import type { Egress } from "../../model/egress.ts";
import { type SeenRequest, learnRoutes } from "./learn-routes.ts";
import { isEgressProblem, parseEgress } from "./parse-egress.ts";
import { isAmbiguous, readTarget } from "./request-target.ts";
import { RouteTable } from "./route-table.ts";

const seen = (method: string, url: string, isDenied = false): SeenRequest => {
  const { hostname, port, pathname } = new URL(url);
  return { method, host: hostname, port: Number(port || 443), path: pathname, isDenied };
};

/** Every request has to pass by what was learned of it, and the list has to be a policy. */
function learn(requests: SeenRequest[], present = {}) {
  const learned = learnRoutes(requests, present);
  for (const [isDenied, routes] of [
    [false, learned.routes],
    [true, learned.denied],
  ] as const) {
    const parsed = parseEgress({ routes });
    expect(isEgressProblem(parsed)).toBe(false);
    const table = new RouteTable(routes);
    for (const { method, host, port, path } of requests.filter((one) => one.isDenied === isDenied)) {
      const target = readTarget(path === "" ? "/" : path);
      if (isAmbiguous(target)) throw new Error("ambiguous");
      const found = table.find(host, port);
      expect(found?.refusal({ method, target, header: () => undefined })).toBeUndefined();
      expect(found).toBeDefined();
    }
  }
  return learned;
}

describe("routes that are learned", () => {
  it("name what was asked for, and no more", () => {
    const { routes } = learn([seen("GET", "https://a.example/one"), seen("POST", "https://a.example/two/three")]);
    expect(routes).toEqual([
      {
        host: "a.example",
        matches: [
          { methods: ["GET"], paths: [{ type: "exact", value: "/one" }] },
          { methods: ["POST"], paths: [{ type: "exact", value: "/two/three" }] },
        ],
      },
    ]);
  });

  it("name the folder of many, and of what has a number", () => {
    const many = ["a", "b", "c", "d", "e"].map((name) => seen("GET", `https://a.example/files/${name}/x`));
    expect(learn(many).routes[0]?.matches?.[0]?.paths).toEqual([{ type: "prefix", value: "/files" }]);
    const { routes } = learn([seen("GET", "https://a.example/v1/items/42"), seen("GET", "https://a.example/v1/me")]);
    expect(routes[0]?.matches?.[0]?.paths).toEqual([
      { type: "prefix", value: "/v1/items" },
      { type: "exact", value: "/v1/me" },
    ]);
    // An event has a long path up to a mark, which no path has.
    expect(learnRoutes([{ ...seen("GET", "https://a.example/"), path: "/x/long…" }], {}).routes[0]?.matches).toEqual([
      { methods: ["GET"], paths: [{ type: "prefix", value: "/x" }] },
    ]);
    const roots = ["a", "b", "c", "d", "e"].map((name) => seen("GET", `https://a.example/${name}`));
    expect(learn(roots).routes[0]?.matches).toEqual([{ methods: ["GET"] }]);
  });

  it("keep an encoded slash working, other ports, and a folder that is asked for itself", () => {
    expect(learn([seen("GET", "https://r.example/@scope%2fname")]).routes[0]?.matches).toEqual([{ methods: ["GET"] }]);
    expect(learn([seen("GET", "https://a.example:8443/")]).routes).toEqual([
      { host: "a.example", ports: [8443], matches: [{ methods: ["GET"], paths: [{ type: "exact", value: "/" }] }] },
    ]);
    learn([
      seen("GET", "https://a.example/x"),
      seen("PUT", "https://a.example/x/y"),
      seen("GET", "https://a.example/x/"),
    ]);
  });

  it("have apart what was denied, and keep what a route has beside its rules", () => {
    const auth = { scheme: "Bearer" as const, token_ref: "T" };
    const { routes, denied, hosts } = learn(
      [seen("GET", "https://api.a.example/x"), seen("GET", "https://b.example/y", true)],
      { routes: [{ host: "*.a.example", auth }] },
    );
    expect(routes).toMatchObject([{ host: "api.a.example", auth }]);
    expect(denied).toMatchObject([{ host: "b.example" }]);
    expect(hosts).toEqual([
      { host: "api.a.example", requests: 1, denied: 0, methods: ["GET"] },
      { host: "b.example", requests: 1, denied: 1, methods: ["GET"] },
    ]);
    expect(learn([{ ...seen("CONNECT", "https://c.example/", true), path: "" }]).denied).toEqual([
      { host: "c.example" },
    ]);
  });

  it("take the question for a name as a wish for its host alone, and leave out what no policy can list", () => {
    const asked = (host: string): SeenRequest => ({ method: "RESOLVE", host, port: 0, path: "", isDenied: true });
    const address = { method: "GET", host: "", port: 0, path: "//10.0.0.1/", isDenied: true };
    const { denied, routes, hosts } = learnRoutes(
      [
        asked("a.example"),
        asked("b.example"),
        seen("GET", "https://b.example/x", true),
        asked("c.example"),
        seen("GET", "https://c.example/"),
        asked("no host"),
        address,
      ],
      {},
    );
    expect(denied).toEqual([
      { host: "a.example" },
      { host: "b.example", matches: [{ methods: ["GET"], paths: [{ type: "exact", value: "/x" }] }] },
    ]);
    expect(routes.map(({ host }) => host)).toEqual(["c.example"]);
    expect(hosts.map(({ host }) => host)).toEqual(["a.example", "b.example", "c.example"]);
  });

  it("give a port neither the credential nor the tunnel of another one, by whichever the sandbox came first", () => {
    const auth = { scheme: "Bearer" as const, token_ref: "T" };
    const both = [
      seen("GET", "https://api.a.example/x"),
      { ...seen("CONNECT", "https://api.a.example:8443/"), path: "" },
    ];
    const present: Egress = {
      routes: [
        { host: "api.a.example", ports: [443], auth, secrets: ["NAME"] },
        { host: "*.a.example", ports: [8443], tls: "passthrough", secrets: ["NAME"] },
      ],
    };
    for (const requests of [both, both.toReversed()])
      expect(learn(requests, present).routes).toEqual([
        { host: "api.a.example", ports: [443, 8443], secrets: ["NAME"] },
      ]);
  });
});
