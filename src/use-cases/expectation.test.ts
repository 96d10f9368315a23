import { describe, expect, it } from "vitest";
import { expectMatch, findDifference } from "./expectation.ts";

describe("findDifference()", () => {
  it.each([
    ["more fields than wanted", { a: 1, b: 2 }, { a: 1 }],
    ["more fields further down", { list: [{ a: 1, b: 2 }] }, { list: [{ a: 1 }] }],
    ["equal values", [1, "x", null], [1, "x", null]],
  ])("finds none in %s", (_, actual, wanted) => {
    expect(findDifference("it", actual, wanted)).toBeUndefined();
  });

  it.each([
    [{ a: 1 }, { a: 2 }, "expected it.a to be 2, it is 1"],
    [{}, { a: 2 }, "expected it.a to be 2, it is missing"],
    [[1], [1, 2], "expected it to be [1,2], it is [1]"],
    [{ a: [{ b: "x\n" }] }, { a: [{ b: "y" }] }, 'expected it.a[0].b to be "y", it is "x\\n"'],
    [null, { a: 1 }, 'expected it to be {"a":1}, it is null'],
    ["1", 1, 'expected it to be 1, it is "1"'],
  ])("tells the first place where %j is not %j", (actual, wanted, message) => {
    expect(findDifference("it", actual, wanted)).toBe(message);
  });
});

describe("expectMatch()", () => {
  it("throws what differs", () => {
    expect(() => expectMatch("exec", { exit_code: 1 }, { exit_code: 0 })).toThrow(
      "expected exec.exit_code to be 0, it is 1",
    );
    expect(() => expectMatch("exec", { exit_code: 0 }, { exit_code: 0 })).not.toThrow();
  });
});
