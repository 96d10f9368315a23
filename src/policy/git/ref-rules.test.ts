import fc from "fast-check";
import { expect, it } from "vitest";
import { judgeRefs } from "./ref-rules.ts";

const isAllowed = (glob: string, name: string): boolean => {
  const command = { old: "0".repeat(40), new: "1".repeat(40), ref: `refs/heads/${name}` };
  return judgeRefs({ branches: [glob] }, [{ command, isForced: false }]).length === 0;
};

it.each([
  ["main", ["main"], ["mains", "amain", "agent/main"]],
  ["agent/*", ["agent/x", "agent/x/y"], ["agent", "agents/x", "x/agent/y"]],
  ["*/x", ["a/x", "a/b/x"], ["x", "a/xy"]],
  ["a*b*a", ["aba", "axbxa", "abba"], ["aa", "ab", "ba"]],
  ["a*a", ["aa", "aba"], ["a"]],
  ["*", ["anything/at/all"], []],
  ["v1.?", [], ["v1.0"]],
  ["a.c", ["a.c"], ["abc"]],
])("takes %s as what it says", (glob, yes, no) => {
  expect(yes.filter((name) => !isAllowed(glob, name))).toEqual([]);
  expect(no.filter((name) => isAllowed(glob, name))).toEqual([]);
});

it("takes a star for anything, wherever it stands", () => {
  const letters = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 8 }).map((all) => all.join(""));
  const globs = fc.array(fc.constantFrom("a", "b", "*"), { minLength: 1, maxLength: 6 }).map((all) => all.join(""));
  fc.assert(
    fc.property(globs, letters, (glob, name) => {
      expect(isAllowed(glob, name)).toBe(new RegExp(`^${glob.replaceAll("*", ".*")}$`).test(name));
    }),
    { numRuns: 500 },
  );
});

it("G-189 judges a name in time by its length, however many stars a rule has", () => {
  const name = `agent/${"a/b-".repeat(240)}y`;
  const began = performance.now();
  for (let count = 0; count < 1000; count++) expect(isAllowed("agent/*/*-*/*-*-x", name)).toBe(false);
  expect(performance.now() - began).toBeLessThan(5000);
});
