import { describe, expect, it } from "vitest";
import { Turns } from "./turns.ts";

describe("Turns", () => {
  it("lets work on one workspace wait for the work before it, also when that fails", async () => {
    const turns = new Turns();
    const seen: string[] = [];
    let finishFirst: () => void = () => undefined;
    const first = turns.take("a", async () => {
      seen.push("first begins");
      await new Promise<void>((done) => (finishFirst = done));
      seen.push("first fails");
      throw new Error("no");
    });
    const second = turns.take("a", () => Promise.resolve(seen.push("second")));
    const other = turns.take("b", () => Promise.resolve(seen.push("other")));
    await other;
    expect(seen).toEqual(["first begins", "other"]);
    finishFirst();
    await expect(first).rejects.toThrow("no");
    await second;
    expect(seen).toEqual(["first begins", "other", "first fails", "second"]);
  });
});
