import { expect, it } from "vitest";
import type { StoredEgress } from "../contracts/store.ts";
import { keepPolicy, withProviderRoutes } from "./egress-policy.ts";

const before: StoredEgress = {
  policy: {
    routes: [{ host: "api.model.example", auth: { scheme: "ApiKey", token_ref: "KEY" } }, { host: "old.example" }],
  },
  standIns: { KEY: "stand-in-of-the-key" },
  authorities: {},
  providers: { "api.model.example": null },
};

it("another policy for a run leaves the routes to its agent's own model, and nothing else of the last one", () => {
  const asked = { log: "all", routes: [{ host: "new.example" }, { host: "api.model.example" }] } as const;
  const { log, routes } = withProviderRoutes({ ...asked, routes: [...asked.routes] }, before);
  expect([log, routes]).toEqual(["all", [before.policy.routes?.[0], { host: "new.example" }]]);
  const plain = { routes: [{ host: "new.example" }] };
  expect(withProviderRoutes(plain, { ...before, providers: {} })).toBe(plain);
  expect(withProviderRoutes(plain, null)).toBe(plain);
});

it("says which file of certificates cannot be used, and why, in words", () => {
  const keep = (ca: string) => () => keepPolicy({ routes: [{ host: "a.example", ca }] }, new Map());
  expect(keep("/no/such.pem")).toThrow(
    'Cannot use the egress policy: "routes.0.ca" is "/no/such.pem": it is not there',
  );
  expect(keep("/dev/null")).toThrow('"/dev/null": it is no ordinary file');
  expect(keep(import.meta.filename)).toThrow("it has no certificate in PEM");
});

it("G-56 a stand-in stays what it was, also without a route for its token", () => {
  const kept = keepPolicy({ routes: [{ host: "new.example" }] }, new Map(), before);
  expect(kept.standIns).toEqual(before.standIns);
});
