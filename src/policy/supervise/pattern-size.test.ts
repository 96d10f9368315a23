import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { MAX_PATTERN_SIZE, areTooLarge, patternSize } from "./pattern-size.ts";
import { readAskedRoutes } from "./read-asked-routes.ts";

const part = fc.letrec((tie) => ({
  pattern: fc.array(tie("piece"), { minLength: 1, maxLength: 4 }).map((pieces) => (pieces as string[]).join("")),
  piece: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      "a",
      ".",
      "\\(",
      "\\)",
      "[a)(]",
      "[]a]",
      "[^]{9}]",
      "[[:alpha:]({5}]",
      "\\pN",
      "\\p{Greek}",
      "\\x{41}",
      "\\Q)\\E",
      "\\Q(\\E",
      "{",
      "a|b",
      "\\Q{3}\\E",
    ),
    fc
      .tuple(tie("piece"), fc.constantFrom("*", "+?", "?", "{3}", "{0,7}", "{9,}", "{1,12}?"))
      .map(([one, more]) => `${one as string}${more}`),
    fc
      .tuple(fc.constantFrom("(", "(?:", "(?i:", "(?P<n>"), tie("pattern"))
      .map(([open, inner]) => `${open}${inner as string})`),
  ),
})).pattern;

describe("how large a pattern is", () => {
  it("G-176 is never told as less than what becomes of it", () => {
    const check = (given: unknown) => {
      const pattern = given as string;
      let size: number;
      try {
        size = RE2JS.compile(pattern).programSize();
      } catch {
        return; // nobody takes it
      }
      expect([pattern, 4 * patternSize(pattern) + 8 >= size]).toEqual([pattern, true]);
    };
    fc.assert(fc.property(part, check), { numRuns: 3000 });
  });

  it.each(["x{1000}".repeat(30), "(?:abc[a-z]{100}){20}".repeat(20), `(\\Q)\\E${"long".repeat(20)}){1000}`])(
    "G-176 is too large for %j",
    (value) => {
      expect(areTooLarge([{ matches: [{ paths: [{ type: "regex", value }] }] }])).toBe(true);
      expect(areTooLarge([{ matches: [{ headers: [{ type: "regex", value }] }] }])).toBe(true);
      expect(areTooLarge([{ matches: [{ paths: [{ type: "prefix", value }] }] }])).toBe(false);
    },
  );

  it("G-176 is counted for all patterns of all routes together", () => {
    const route = { matches: [{ paths: [{ type: "regex", value: "x{1000}" }] }] };
    expect(areTooLarge(Array.from({ length: 16 }, () => route))).toBe(false);
    const routes = Array.from({ length: MAX_PATTERN_SIZE / 1000 }, () => route);
    expect(areTooLarge(routes)).toBe(false);
    expect(areTooLarge([...routes, route])).toBe(true);
  });

  it("G-176 is looked at before an agent's pattern is compiled", () => {
    const paths = [{ type: "regex", value: "x{1000}".repeat(30) }];
    expect(() => readAskedRoutes([{ host: "a.example.com", matches: [{ paths }] }])).toThrow("repeat too much");
  });

  it("is moderate for patterns as people write them", () => {
    for (const pattern of [
      String.raw`/repos/[^/]+/[^/]+/pulls/\d+`,
      String.raw`/v\d{1,2}/(users|teams)/[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}(/.*)?`,
    ])
      expect(patternSize(pattern)).toBeLessThan(200);
  });
});
