import { expect, it } from "vitest";
import { createDetector } from "../policy/dlp/create-detector.ts";
import { checkEgress } from "./check-egress.ts";

const routes = [{ host: "a.example", matches: [{ paths: [{ type: "exact" as const, value: "/x" }] }] }];
const check = (url: string) => checkEgress({ routes }, createDetector({ known: [] }), "GET", url);

it.each(["https://a.example/x#part", "wss://a.example/x", "ws://a.example/x", "HTTPS://A.example./x#"])(
  "asks about %s as a client sends it",
  (url) => {
    expect(check(url)).toMatchObject({ allowed: true, host: "a.example", path: "/x" });
  },
);

it.each([
  ["ftp://a.example/x", "http:// and https://, and WebSockets"],
  ["https://user:word@a.example/x", "without a user and a password"],
  ["https://a.example:70000/x", "1 to 65535"],
  ["https://a.example:/x", "1 to 65535"],
  ["https://10.0.0.1/x", "addresses are no hosts"],
  ["https://[::1]:80/x", "addresses are no hosts"],
  ["https:///x", "names of hosts"],
])("says why no gate takes %s", (url, reason) => {
  expect(check(url)).toMatchObject({ allowed: false, host: null, reason: expect.stringContaining(reason) as string });
});
