import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDetector } from "./create-detector.ts";
import type { KnownValue } from "./detector.ts";
import { TOKEN_RULES } from "./rules/token-rules.ts";

const SECRET = ["kJ8s", "Qp2v", "Zx7L", "m4Rt", "Yw9B", "n3Dc"].join("");
const known: KnownValue[] = [{ detector: "known_secrets", name: "API_TOKEN", value: SECRET }];
const scan = createDetector({ known }).scope();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const base64url = (text: string) => Buffer.from(text).toString("base64url");
const hex = (text: string) => Buffer.from(text).toString("hex");
const base32 = (text: string) => {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const digit = (five: string) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five.padEnd(5, "0"), 2)] ?? "";
  return (bits.match(/.{1,5}/g) ?? []).map(digit).join("");
};
const reversed = (text: string) => Array.from(text).reverse().join("");
const percent = (text: string) =>
  Array.from(text)
    .map((one) => `%${hex(one)}`)
    .join("");
const unicode = (text: string) =>
  Array.from(text)
    .map((one) => `\\u00${hex(one)}`)
    .join("");

/** What an encoder of text may do to it. */
const VIEWS: Readonly<Record<string, (text: string) => string>> = {
  base64,
  base64url,
  base32,
  hex,
  "hex in capitals": (text) => hex(text).toUpperCase(),
  reversed,
  percent,
  unicode,
  "mixed escapes": (text) =>
    Array.from(text)
      .map((one, at) => (at % 3 === 0 ? `%${hex(one)}` : at % 3 === 1 ? `\\x${hex(one)}` : one))
      .join(""),
  entities: (text) =>
    Array.from(text)
      .map((one) => `&#${one.charCodeAt(0)};`)
      .join(""),
  spaces: (text) => Array.from(text).join(" "),
  dashes: (text) => text.match(/.{1,4}/gs)?.join("-") ?? "",
  "zero width": (text) => Array.from(text).join("\u200b"),
  "soft hyphens": (text) => Array.from(text).join("\u00ad"),
  "full width": (text) =>
    Array.from(text)
      .map((one) => (/[\w]/.test(one) ? String.fromCodePoint(one.charCodeAt(0) + 0xfee0) : one))
      .join(""),
  tags: (text) =>
    Array.from(text)
      .map((one) => (/[ -~]/.test(one) ? String.fromCodePoint(0xe0000 + one.charCodeAt(0)) : one))
      .join(""),
  selectors: (text) =>
    Array.from(text)
      .map((one) => (/[ -~]/.test(one) ? String.fromCodePoint(0xe0100 - 16 + one.charCodeAt(0)) : one))
      .join(""),
};
const OF_VALUES: typeof VIEWS = {
  ...VIEWS,
  octal: (text) =>
    Array.from(text)
      .map((one) => `\\${one.charCodeAt(0).toString(8)}`)
      .join(""),
  "JSON in JSON in JSON in JSON": (text) =>
    [0, 1, 2].reduce((inner) => JSON.stringify({ inner }), `{"a":"${unicode(text)}"}`),
  "other case": (text) => text.toUpperCase(),
  utf16: (text) => Buffer.from(text, "utf16le").toString("latin1"),
  decimal: (text) =>
    Array.from(text)
      .map((one) => one.charCodeAt(0))
      .join(","),
  "wrapped base64 in JSON": (text) =>
    JSON.stringify(
      base64(text)
        .match(/.{1,8}/g)
        ?.join("\n"),
    ),
};

describe("a known value", () => {
  it.each(Object.entries(OF_VALUES))("is found as %s, wherever it stands", (_, encode) => {
    for (const before of ["", "a", "ab", "abc", "abcd"]) {
      const findings = scan.text("query", `x=${encode(`${before}${SECRET}!`)}&y`);
      expect(findings[0], before).toMatchObject({ rule: "known-secret", name: "API_TOKEN", place: "query" });
    }
  });

  it("is found in any two views, at any place, however the body is cut", () => {
    // Escapes of escapes and separators inside of an encoding change what the encoder sees; those that a decoder undoes first are outside.
    const inner = ["base64", "base64url", "base32", "hex", "hex in capitals", "reversed"];
    fc.assert(
      fc.property(
        fc
          .stringMatching(/^[A-Za-z0-9_-]{16,48}$/)
          .filter((value) => new Set(value).size >= 8 && /\d/.test(value) && /[a-z]/.test(value)),
        fc.constantFrom(...inner),
        fc.constantFrom(...Object.keys(VIEWS)),
        // A percent sign and two digits of the value would be one character.
        fc.string({ maxLength: 5 }).filter((before) => !before.includes("%")),
        fc.nat(70_000),
        fc.nat(200),
        (value, first, second, before, at, cut) => {
          const own = createDetector({ known: [{ detector: "canary", name: "C", value }], rules: [] }).scope();
          const text = VIEWS[second]?.(VIEWS[first]?.(before + value + before) ?? "") ?? "";
          const body = own.body({ mode: "find" });
          const bytes = Buffer.from(`${"{} ".repeat(at / 3)}${text}${" []".repeat(2000)}`);
          const middle = at + Math.min(cut, text.length);
          for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) body.push(part);
          body.end();
          expect(body.findings.map(({ rule }) => rule)).toContain("canary");
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("a known value that is nearly only separators", () => {
  const OF_SEPARATORS = ["--_a1-__-b2--_-c-_", "__--..//~~--9x__--..", "-_-.-k3-=-_-.--Z7"];
  const double = ["base64", "base64url", "base32", "hex", "hex in capitals", "reversed"];

  it.each(OF_SEPARATORS)("is found in any two views: %s", (value) => {
    const own = createDetector({ known: [{ detector: "canary", name: "C", value }], rules: [] }).scope();
    // With something between its characters it is found when four of them are letters or digits.
    const isTelling = value.replaceAll(/[^A-Za-z0-9]/g, "").length >= 4;
    const outer = Object.keys(VIEWS).filter((name) => isTelling || !/spaces|dashes|zero|hyphens/.test(name));
    const missed = double.flatMap((first) =>
      outer
        .filter((second) => {
          const text = VIEWS[second]?.(VIEWS[first]?.(`a${value}b`) ?? "") ?? "";
          return own.text("body", `x "${text}" y`).length === 0;
        })
        .map((second) => `${second} of ${first}`),
    );
    expect(missed).toEqual([]);
  });

  it("is not found where only its letters are", () => {
    const known = OF_SEPARATORS.map((value) => ({ detector: "canary", name: "C", value }) as const);
    const own = createDetector({ known, rules: [] }).scope();
    for (const text of ["a1b2c", "a1-b2-c", "a-1 b-2 c, 9x, k3 Z7, k3-Z7 k_3=Z.7", "A1B2C K3Z7"])
      expect(own.text("body", text)).toEqual([]);
  });
});

/** What they are known by is in the middle of them, or is in every text, so that it is not looked for in base64. */
const NO_KEYWORD_OF_THEIR_OWN: readonly string[] = ["square-access-token"];
const TOKEN = `ghp_${SECRET}${SECRET.slice(0, 12)}`;

describe("a token", () => {
  it.each(Object.entries(VIEWS))("is found as %s, wherever it stands", (_, encode) => {
    for (const before of ["", "a", "ab", "abc", "abcd"]) {
      const rules = scan.text("body", `x "${encode(`${before}${TOKEN}`)}" y`).map(({ rule }) => rule);
      // Nobody can tell where a token begins whose separators begin before it.
      if (before === "" || !/spaces|dashes/.test(_)) expect(rules, before).toContain("github-pat");
    }
  });

  it.each([
    ["base64", "base64"],
    ["hex", "base64"],
    ["base64", "hex"],
    ["percent", "base64"],
    ["base64", "reversed"],
    ["unicode", "percent"],
    ["hex", "hex"],
    ["hex in capitals", "hex in capitals"],
  ])("is found as %s of %s", (outer, inner) => {
    const text = VIEWS[outer]?.(VIEWS[inner]?.(TOKEN) ?? "") ?? "";
    expect(scan.text("body", `{"a":"${text}"}`).map(({ rule }) => rule)).toContain("github-pat");
  });

  it("is found in base32 of small letters, as names of hosts and files have it", () => {
    for (const before of ["", "a", "ab", "abc", "abcd"])
      expect(scan.text("path", `/v1/${base32(before + TOKEN).toLowerCase()}/x`)[0]).toMatchObject({
        rule: "github-pat",
        view: "base32",
      });
  });

  it("is found behind an ordinary word, whatever it wants before it", () => {
    const bordered = TOKEN_RULES.filter(
      ({ severity, pattern, isCommon }) =>
        severity === "high" && isCommon !== true && pattern.source.startsWith("(?<!"),
    );
    const missed = bordered.filter(
      ({ id, hit }) =>
        !scan.text("body", `{"text":"the token ${base64(hit())} and more"}`).some(({ rule }) => rule === id),
    );
    expect(bordered.length).toBeGreaterThan(20);
    expect(missed.map(({ id }) => id)).toEqual(NO_KEYWORD_OF_THEIR_OWN);
  });
});
