import { expect, it } from "vitest";
import type { Route } from "../model/egress.ts";
import { addsOf } from "../policy/supervise/adds.ts";
import { type Launch, withRoutes } from "./launch.ts";

const launchOf = (routes: Route[]) => ({ egress: { policy: { routes } } }) as unknown as Launch;
const approved = (host: string, then: Route[] = []) => {
  const proposed = { routes: [{ host }] };
  return { proposed, adds: addsOf("egress-block", proposed, { routes: then }) };
};
const given = (launch: Launch) => launch.egress.policy.routes;

it("has the routes again that were approved for a run", () => {
  const own: Route[] = [{ host: "own.test" }];
  const both = [approved("*.docs.test", own), approved("a.docs.test", [...own, { host: "*.docs.test" }])];
  expect(given(withRoutes(launchOf(own), both))?.map(({ host }) => host)).toEqual([
    "own.test",
    "a.docs.test",
    "*.docs.test",
  ]);
});

it("G-184: gives a resumed run no credential that its bottle has for an approved host only since", () => {
  const route: Route = {
    host: "api.test",
    auth: { scheme: "Bearer", token_ref: "API_TOKEN" },
    matches: [{ methods: ["GET"] }],
  };
  for (const since of [route, { ...route, host: "*.test.test" }]) {
    const host = since.host.replace("*", "a");
    expect(given(withRoutes(launchOf([since]), [approved(host)]))).toEqual([since]);
    // What was approved with the credential in the sentence still is.
    expect(given(withRoutes(launchOf([since]), [approved(host, [since])]))?.[0]?.matches).toBeUndefined();
  }
});
