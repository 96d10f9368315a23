import { expect, it } from "vitest";
import { echoedValues } from "./echoed-values.ts";

it("G-182 looks for the secret part of a pair of user and password, and not for a name", () => {
  const of = (token: string, scheme: "Basic" | "Bearer" = "Basic") => echoedValues({ scheme, token });
  expect(of("someone@example.test:correct-horse")).toEqual(["someone@example.test:correct-horse", "correct-horse"]);
  expect(of("ghp_0123456789abcdef:x-oauth-basic")).toEqual([
    "ghp_0123456789abcdef:x-oauth-basic",
    "ghp_0123456789abcdef",
  ]);
  expect(of("sk_live_0123456789:")).toEqual(["sk_live_0123456789:", "sk_live_0123456789"]);
  expect(of("user:pass:word:more")).toEqual(["user:pass:word:more", "pass:word:more"]);
  // What is as short as a word may be anywhere.
  expect(of("a:b")).toEqual(["a:b"]);
  expect(of("plain-token-of-many")).toEqual(["plain-token-of-many"]);
  expect(of("key:with-a-colon", "Bearer")).toEqual(["key:with-a-colon"]);
  expect(echoedValues({ scheme: "Basic", token: null })).toEqual([]);
});
