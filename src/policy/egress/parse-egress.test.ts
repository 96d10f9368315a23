import { describe, expect, it } from "vitest";
import { parseEgress } from "./parse-egress.ts";

const problem = (value: unknown): string => {
  const parsed = parseEgress(value);
  return "problem" in parsed ? parsed.problem : "";
};
const ofRoute = (route: object): string => problem({ routes: [route] });

describe("a policy for what may leave a sandbox", () => {
  it("takes all that a route can have", () => {
    const route = {
      host: "API.Example.com.",
      ports: [443],
      connect: "127.0.0.1:8443",
      ca: "/etc/ca.pem",
      tls: "intercept",
      secrets: ["TOKEN"],
      auth: [
        { scheme: "Bearer", token_ref: "A" },
        { scheme: "ApiKey", token_ref: "B", header: "x-key" },
        { scheme: "Bearer", token_command: ["get-token", "--quiet"], query: "key" },
      ],
      matches: [
        {
          paths: [{ type: "regex", value: "^/v[0-9]+/.*$" }],
          methods: ["GET"],
          headers: [{ name: "Accept", value: "*/*" }],
        },
      ],
      dlp: { outbound_on_match: "redact" },
    };
    expect(parseEgress({ log: "all", routes: [route] })).toEqual({
      egress: { log: "all", routes: [{ ...route, host: "api.example.com" }] },
    });
    expect(parseEgress({})).toEqual({ egress: {} });
  });

  it.each([
    [{}, /"routes.0.host" is missing/],
    [{ host: "*" }, /names its hosts/],
    [{ host: "*.com" }, /at least two labels/],
    [{ host: "a.*.com" }, /no name of a host/],
    [{ host: "https://api.example.com" }, /a name alone, as in api.example.com/],
    [{ host: "api.example.com/v1" }, /a name alone/],
    [{ host: "api.example.com:8443" }, /a name alone/],
    [{ host: "localhost" }, /localhost and addresses are no hosts/],
    [{ host: "10.0.0.1" }, /localhost and addresses are no hosts/],
    [{ host: "[::1]" }, /localhost and addresses are no hosts/],
    [{ host: "a.example", port: 1 }, /unknown key "port" in "routes.0"; allowed are host, ports, connect, ca, tls/],
    [{ host: "a.example", auth: { scheme: "Bearer" } }, /either token_ref or token_command/],
    [
      { host: "a.example", auth: { scheme: "Bearer", token_ref: "A", token_command: ["x"] } },
      /either token_ref or token_command/,
    ],
    [{ host: "a.example", dlp: { outbound_detectors: ["tokens", "magic"] } }, /must be one of known_secrets, canary/],
    [{ host: "a.example", auth: { scheme: "bearer", token_ref: "A" } }, /one of Bearer, token, Basic, ApiKey/],
    [
      { host: "a.example", auth: { scheme: "Bearer", token_ref: "A", user: "x" } },
      /unknown key "user" in "routes.0.auth"; allowed are scheme, token_ref/,
    ],
    [{ host: "a.example", auth: { scheme: "ApiKey", token_ref: "A", header: "Host" } }, /the gate's own/],
    [{ host: "a.example", matches: [{ paths: [{ type: "regex", value: "(" }] }] }, /does not compile/],
    [{ host: "a.example", matches: [{ paths: [{ type: "regex", value: "(?=x)" }] }] }, /does not compile/],
    [
      { host: "a.example", matches: [{ path: "/x" }] },
      /unknown key "path" in "routes.0.matches.0"; allowed are paths, methods, headers/,
    ],
    [{ host: "a.example", connect: "db.internal:1" }, /ADDRESS:PORT/],
    [{ host: "a.example", connect: "127.0.0.1:70000" }, /"routes.0.connect" is not valid: there is no such address/],
    [{ host: "a.example", connect: "127.0.0.256:80" }, /no such address/],
    [{ host: "a.example", connect: "010.0.0.1:80" }, /no such address/],
    [{ host: "a.example", connect: "127.0.0.1:0" }, /no such address/],
    [{ host: "a.example", connect: "[::1::]:80" }, /no such address/],
    [{ host: "a.example", matches: [{ paths: [{ type: "prefix", value: "v1" }] }] }, /paths.0.value" .* with a slash/],
    [
      { host: "a.example", auth: { scheme: "Bearer", token_command: "get-token" } },
      /^"routes.0.auth.token_command" must be an array$/,
    ],
    [{ host: "a.example", tls: "passthrough", auth: { scheme: "Bearer", token_ref: "A" } }, /tunnel/],
  ])("says what is wrong with %j", (route, told) => {
    expect(ofRoute(route)).toMatch(told);
  });

  it.each([
    [{ routes: [{ host: "a.example", port: 1 }] }, ["routes", 0, "port"]],
    [{ routes: [{ host: "a.example" }, { host: "a.example" }] }, ["routes", 1, "host"]],
    [{ routes: [{ host: "a.example", auth: { scheme: "x", token_ref: "A" } }] }, ["routes", 0, "auth", "scheme"]],
    [
      { routes: [{ host: "a.example", matches: [{ paths: [{ type: "regex", value: "(" }] }] }] },
      ["routes", 0, "matches", 0],
    ],
    [{ rules: [] }, ["rules"]],
  ])("says where it is in %j", (value, path) => {
    expect(parseEgress(value)).toMatchObject({ path });
  });

  it("has each host once, however it is written", () => {
    expect(problem({ routes: [{ host: "a.example" }, { host: "A.EXAMPLE." }] })).toMatch(/"a.example" is there twice/);
  });
});
