import { describe, expect, it } from "vitest";
import { patchesThatApply } from "./patches-in-the-way.ts";

const change = (from: string | undefined, to: string | undefined, isTold = true) => ({ from, to, isTold });
const applied = (...changes: ReturnType<typeof change>[]) =>
  [...patchesThatApply(changes)].map(({ from, to }) => `${from ?? ""}>${to ?? ""}`);

describe("patchesThatApply()", () => {
  it("are all that can be told, where nothing stays in the way", () => {
    expect(
      applied(change("a", "a"), change("b", undefined), change(undefined, "b/c"), change("d", "d", false)),
    ).toEqual(["a>a", "b>", ">b/c"]);
  });

  it("are not those below a file that stays, nor of a file where a folder stays", () => {
    expect(applied(change("b", undefined, false), change(undefined, "b/c/d"), change(undefined, "bc"))).toEqual([
      ">bc",
    ]);
    expect(applied(change("b/c/d", undefined, false), change(undefined, "b"), change(undefined, "b/c"))).toEqual([]);
  });

  it("are not those that need a file moved which now stays", () => {
    const changes = [change("x", undefined, false), change("m", "x/m"), change(undefined, "m/new"), change("k", "k2")];
    expect(applied(...changes)).toEqual(["k>k2"]);
  });
});
