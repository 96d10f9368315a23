import fc from "fast-check";
import { expect, it } from "vitest";
import { diffLines } from "./line-diff.ts";

it("signs what is in one text alone", () => {
  const signed = diffLines(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]).map(({ sign, text }) => sign + text);
  expect(signed).toEqual([" a", "-b", "+x", " c", " d", "+e"]);
});

it("has both texts in it, whole and in order", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = diffLines(before, after);
      expect(diff.filter(({ sign }) => sign !== "+").map(({ text }) => text)).toEqual(before);
      expect(diff.filter(({ sign }) => sign !== "-").map(({ text }) => text)).toEqual(after);
    }),
  );
});

it("does not compare for ever", () => {
  const many = (from: number) => Array.from({ length: 5000 }, (_, at) => String(from + at * 2));
  expect(diffLines(many(0), many(1))).toHaveLength(10_000);
});
