import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalHost } from "../../model/host-name.ts";
import { coversHost } from "./host-match.ts";
import { isAmbiguous, readTarget } from "./request-target.ts";
import { RouteTable } from "./route-table.ts";

const facts = (method: string, sent: string, headers: Record<string, string> = {}) => {
  const target = readTarget(sent);
  if (isAmbiguous(target)) throw new Error(target.ambiguous);
  return { method, target, header: (name: string) => headers[name] };
};

const decoded = (text: string): string =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

describe("names of hosts", () => {
  it("G-35 are the same in upper case, with a final dot and in either form of an international label", () => {
    expect(canonicalHost("API.Example.COM.")).toBe("api.example.com");
    expect(canonicalHost("bücher.example")).toBe("xn--bcher-kva.example");
    expect(canonicalHost("XN--BCHER-KVA.example")).toBe("xn--bcher-kva.example");
    expect(canonicalHost("ａpi.example")).toBe("api.example");
  });

  it.each([
    "127.0.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.1",
    "1.2.3",
    "[::1]",
    "::1",
    "::ffff:127.0.0.1",
    "[::ffff:7f00:1]",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "①②⑦.⓪.⓪.①",
    "",
    ".",
    "a..b",
    "a b",
    "a/b",
    "a@b",
    "a%2eb",
    "a\u0000b",
    "a.b..",
    "-a.b",
    "xn--a.example",
    "a.example:443",
  ])("G-35 are none: %j", (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });

  it("G-35 that are canonical stay as they are, and have no address' form", () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
        const name = canonicalHost(text);
        if (name === undefined) return;
        expect(canonicalHost(name)).toBe(name);
        expect(new URL(`http://${name}/`).hostname).toBe(name);
        expect(name).not.toMatch(/^[\d.]+$/);
      }),
    );
  });

  it("are covered by a star at any depth, and by nothing that only ends alike", () => {
    expect(coversHost("*.example.com", "a.example.com")).toBe(true);
    expect(coversHost("*.example.com", "a.b.example.com")).toBe(true);
    expect(coversHost("*.example.com", "example.com")).toBe(false);
    expect(coversHost("*.example.com", "badexample.com")).toBe(false);
    expect(coversHost("example.com", "a.example.com")).toBe(false);
  });
});

describe("targets of requests", () => {
  it.each([
    "/v1/../admin",
    "/v1/..",
    "/./a",
    "/v1/%2e%2e/admin",
    "/v1/.%2E/admin",
    "/v1/..%2fadmin",
    "/v1/..;/admin",
    "/v1\\admin",
    "/v1/%5cadmin",
    "//admin",
    "/v1//admin",
    "/v1/%00",
    "/v1/%0d%0aX",
    "/a b",
    "/ä",
    "/a#b",
    "/%zz",
    "/%252e%252e/admin",
    "/v1/..%252fadmin",
    "/v1/%25252e%25252e/admin",
    "/v1/%250d%250aX",
    "/v1/%c0%ae%c0%ae/admin",
    "/v1/..%c0%afadmin",
    "/v1/%e0%80%ae/admin",
    "/v1/..%20/admin",
    "/v1/.%20./admin",
    "/v1/%20.%20",
    "admin",
    "",
  ])("G-37 are refused when two servers may read two paths: %j", (sent) => {
    expect(isAmbiguous(readTarget(sent))).toBe(true);
  });

  it.each([
    "/v1?q=a%0d%0aX-Admin:%20yes",
    "/v1?q=a%0D%0ASet-Cookie%3a+a",
    "/?a=%0d%0aHost:other.example",
    "/?a=%0d%0a%0d%0aLocation:%20/",
    "/?a=x%20HTTP/1.1%0d%0a%0d%0aGET%20/admin%20HTTP/1.1",
  ])("G-194 are refused when a query has a header, or a request, behind a line break: %j", (sent) => {
    expect(isAmbiguous(readTarget(sent))).toBe(true);
  });

  it.each([
    "/?text=Dear%20all,%0d%0a%0d%0aNote:%20it%20works%0d%0aTime:%2012",
    "/?q=one%0Atwo-three:%20four",
    "/?q=X-Admin:%20yes&host:a",
    "/?q=get%20http/1.1",
  ])("pass with text of many lines, and with words of headers: %j", (sent) => {
    expect(isAmbiguous(readTarget(sent))).toBe(false);
  });

  it.each([
    "/",
    "/a/b?x=../..&y=//",
    "/a.b/..c/d..",
    "/@scope%2fname",
    "/a%20b",
    "/...",
    "/v1/a:b;c=d",
    "/a?b?c",
    "/100%25",
    "/%c3%a4%e2%82%ac",
    "/caf%e9",
    "/a%20.b",
    "/v1%20.",
  ])("are taken when there is one way to read them: %j", (sent) => {
    expect(readTarget(sent)).toMatchObject({ sent });
  });

  it("G-37 that are taken are for the URL standard what they are for the rules", () => {
    const character = fc.constantFrom(..."/.%2e5cfabA0;\\~-_ ".split(""));
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
        const target = readTarget(`/${text}`);
        if (isAmbiguous(target)) return;
        expect(new URL(target.sent, "http://h").pathname).toBe(target.sent);
        const once = decoded(target.sent);
        for (const form of [target.sent, target.path, once, decoded(once)])
          expect(form.split(/[/\\;]/).filter((part) => part === ".." || part === ".")).toEqual([]);
      }),
    );
  });
});

describe("routes", () => {
  const table = new RouteTable([
    {
      host: "ruled.example",
      matches: [
        { paths: [{ type: "prefix" as const, value: "/v1" }], methods: ["GET", "POST"] },
        {
          paths: [
            { type: "exact" as const, value: "/status" },
            { type: "regex" as const, value: "/items/[0-9]+" },
          ],
        },
        { headers: [{ name: "X-Kind", value: "a.*", type: "regex" as const }] },
      ],
    },
    { host: "open.example", ports: [8443] },
    { host: "*.example.com" },
  ]);
  const passes = (method: string, sent: string, headers?: Record<string, string>) =>
    table.find("ruled.example", 443)?.refusal(facts(method, sent, headers)) === undefined;

  it("are found by host and port", () => {
    expect(table.find("open.example", 8443)?.route.host).toBe("open.example");
    expect(table.find("open.example", 443)).toBeUndefined();
    expect(table.find("x.example.com", 80)?.route.host).toBe("*.example.com");
    expect(table.find("example.com", 443)).toBeUndefined();
    expect(table.find("ruled.example", 22)).toBeUndefined();
  });

  it("match by path, method and header", () => {
    for (const path of ["/v1", "/v1/x", "/v1/x?y=/admin", "/%761/x"]) expect(passes("GET", path)).toBe(true);
    expect(passes("DELETE", "/v1/x")).toBe(false);
    expect(passes("GET", "/v1beta")).toBe(false);
    expect(passes("DELETE", "/status?verbose=1")).toBe(true);
    expect(passes("GET", "/status/more")).toBe(false);
    expect(passes("GET", "/items/42")).toBe(true);
    expect(passes("GET", "/items/42/edit")).toBe(false);
    expect(passes("GET", "/admin")).toBe(false);
    expect(passes("GET", "/admin", { "x-kind": "abc" })).toBe(true);
    expect(passes("GET", "/admin", { "x-kind": "bac" })).toBe(false);
  });

  it("G-148 take no header by which a server answers for another path or method than the one they were asked about", () => {
    for (const name of [
      "x-original-url",
      "x-rewrite-url",
      "x-http-method-override",
      "x-http-method",
      "x-method-override",
    ])
      expect(passes("GET", "/v1/x", { [name]: "/admin" }), name).toBe(false);
    const open = table.find("open.example", 8443);
    expect(open?.refusal(facts("GET", "/x", { "x-http-method-override": "PATCH" }))).toBeUndefined();
  });

  it("G-37 with rules for paths take no encoded slash", () => {
    expect(passes("GET", "/v1/a%2fb")).toBe(false);
    expect(table.find("x.example.com", 443)?.refusal(facts("GET", "/@scope%2fname"))).toBeUndefined();
  });

  it("have patterns whose time is that of the path", () => {
    const slow = new RouteTable([
      { host: "a.example", matches: [{ paths: [{ type: "regex" as const, value: "/(a+)+b" }] }] },
    ]);
    expect(slow.routes[0]?.refusal(facts("GET", `/${"a".repeat(5000)}`))).toBeDefined();
  });
});
