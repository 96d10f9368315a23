import { expect, it } from "vitest";
import { makeStandIn } from "./stand-in.ts";

const secret = "q7Zx0pLm3RtVw9Ks2NbYc5HdGf8JaE1u";

it.each([
  [`sk-ant-api03-${secret}${secret}`, /^sk-ant-api03-[\w-]{83}$/],
  [`ghp_${secret}abcd`, /^ghp_[A-Za-z0-9]{36}$/],
  [`github_pat_${secret}`, /^github_pat_[A-Za-z0-9]{37}$/],
  [`sk-proj-${secret}`, /^sk-proj-[\w-]{32}$/],
  ["0123456789abcdef0123456789abcdef", /^[0-9a-f]{32}$/],
  [secret, /^[A-Za-z0-9]{32}$/],
  ["short", /^[A-Za-z0-9]{24}$/],
])("makes one of the kind of %s", (token, shape) => {
  const made = makeStandIn(token);
  expect(made).toMatch(shape);
  expect(makeStandIn(token)).not.toBe(made);
  expect(made).not.toContain(secret.slice(0, 8));
});

it("makes a token of three parts that has not ended", () => {
  const made = makeStandIn(`eyJhbGciOiJIUzI1NiJ9.${secret}.${secret}`);
  const claims = JSON.parse(Buffer.from(made.split(".")[1] ?? "", "base64url").toString()) as { exp: number };
  expect(claims.exp).toBeGreaterThan(Date.now() / 1000);
  expect(made).not.toContain(secret);
});

it("takes no word over that may be a part of the secret", () => {
  expect(makeStandIn("hunter2-and-more-of-my-password")).not.toMatch(/hunter|password/);
});
