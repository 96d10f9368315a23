import { expect, it } from "vitest";
import type { GateCredential } from "../../model/egress-order.ts";
import { inject, withoutCredentials, withoutParameters } from "./credentials.ts";

const credential = (more: Partial<GateCredential>): GateCredential => ({
  name: "T",
  token: "value",
  scheme: "Bearer",
  header: null,
  query: null,
  renewable: false,
  problem: null,
  ...more,
});

const injected = (credentials: GateCredential[], target = "/p") => {
  const headers: string[] = [];
  return { target: inject(headers, target, credentials), headers };
};

it("puts each kind of credential where it belongs", () => {
  expect(injected([credential({})]).headers).toEqual(["authorization", "Bearer value"]);
  expect(injected([credential({ scheme: "token" })]).headers).toEqual(["authorization", "token value"]);
  expect(injected([credential({ scheme: "ApiKey" })]).headers).toEqual(["x-api-key", "value"]);
  expect(injected([credential({ scheme: "ApiKey", header: "x-goog-api-key" })]).headers).toEqual([
    "x-goog-api-key",
    "value",
  ]);
  const basic = injected([credential({ scheme: "Basic", token: "me:pass" })]).headers[1] ?? "";
  expect(Buffer.from(basic.slice(6), "base64").toString()).toBe("me:pass");
  expect(injected([credential({ query: "key", token: "a&b" })], "/p?x=1").target).toBe("/p?x=1&key=a%26b");
  expect(injected([credential({}), credential({ scheme: "ApiKey" })]).headers).toHaveLength(4);
});

it("G-39 takes the agent's own out, wherever they are", () => {
  const sent = ["Authorization", "mine", "X-Api-Key", "mine", "COOKIE", "mine", "X-Own", "mine", "Accept", "*/*"];
  expect(withoutCredentials(sent, [credential({ header: "x-own" })])).toEqual(["Accept", "*/*"]);
  expect(withoutCredentials(sent, [])).toEqual(sent);
  const common =
    "Authorization Token X-Token X-Session-Token Authentication Api-Key X-Goog-Api-Key PRIVATE-TOKEN JOB-TOKEN";
  const clouds =
    "X-Amz-Security-Token Ocp-Apim-Subscription-Key X-Functions-Key X-RapidAPI-Key DD-Application-Key X-Auth-Key";
  const rest =
    "X-Api-Secret X-Client-Secret npm-otp X-Plex-Token X-Vault-Token X_Api_Key DD-API-KEY X-Shopify-Access-Token X_OWN";
  const others = [common, clouds, rest].flatMap((names) => names.split(" "));
  const kept = [
    "X-Continuation-Token",
    "Idempotency-Key",
    "Sec-WebSocket-Key",
    "X-Ms-Session-Token",
    "X-Amz-Client-Token",
  ];
  const pairs = (names: string[]) => names.flatMap((name) => [name, "mine"]);
  expect(withoutCredentials(pairs([...others, ...kept]), [credential({ header: "x-own" })])).toEqual(pairs(kept));
  const byQuery = [credential({ query: "key" })];
  expect(withoutParameters("/p?key=mine&x=1&k%65y=mine", byQuery)).toBe("/p?x=1");
  expect(withoutParameters("/p?key=mine", byQuery)).toBe("/p");
});
