import fc from "fast-check";
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

  it("are those that the rule leaves when it is played step by step, in any tree", () => {
    const side = fc.uniqueArray(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 }));
    const told = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(side, side, told, (before, after, isTold) => {
        const [old, now] = [filesOf(before), filesOf(after)];
        const changes = Array.from({ length: Math.max(old.length, now.length) }, (_, index) =>
          change(old[index], now[index], isTold[index % 8]),
        );
        expect(patchesThatApply(changes)).toEqual(stepByStep(changes));
      }),
      { numRuns: 2000 },
    );
  });

  it("take no longer than their names, however deep they are", () => {
    const deep = Array.from({ length: 2000 }, () => "d").join("/");
    const changes = [
      change(`${deep}/stays`, undefined, false),
      ...Array.from({ length: 4000 }, (_, index) => change(undefined, `${deep}/${index}`)),
    ];
    expect(patchesThatApply(changes).size).toBe(4000);
  });
});

/** Paths of files: none lies in another. */
function filesOf(places: readonly string[][]): string[] {
  const paths = [...new Set(places.map((names) => names.join("/")))];
  return paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)));
}

function stepByStep(changes: readonly ReturnType<typeof change>[]) {
  const told = new Set(changes.filter(({ isTold }) => isTold));
  for (;;) {
    const staying = changes.flatMap((one) => (one.from === undefined || told.has(one) ? [] : [one.from]));
    const isStopped = ({ to }: { to: string | undefined }) =>
      to !== undefined && staying.some((path) => path.startsWith(`${to}/`) || to.startsWith(`${path}/`));
    const stopped = [...told].find(isStopped);
    if (!stopped) return told;
    told.delete(stopped);
  }
}
