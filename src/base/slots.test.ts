import { describe, expect, it } from "vitest";
import { Deferred } from "../guest/deferred.ts";
import { Slots } from "./slots.ts";

describe("Slots", () => {
  it("lets no more in than there are, and the next in order when one leaves", async () => {
    const slots = new Slots(2);
    const began: number[] = [];
    const gates = Array.from({ length: 4 }, () => new Deferred<undefined>());
    const all = gates.map((gate, index) =>
      slots.during(async () => {
        began.push(index);
        await gate.promise;
        return index;
      }),
    );
    expect(began).toEqual([0, 1]);
    gates[1]?.resolve(undefined);
    expect(await all[1]).toBe(1);
    expect(began).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve(undefined);
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
  });

  it("gives the place of work that pauses to others, and has it wait for one to go on", async () => {
    const slots = new Slots(1);
    const [answer, over] = [new Deferred<string>(), new Deferred<undefined>()];
    const seen: string[] = [];
    const paused = slots.during(async (pause) => {
      seen.push(await pause(() => answer.promise));
    });
    const other = slots.during(async () => {
      seen.push("other");
      await over.promise;
      seen.push("over");
    });
    await expect.poll(() => seen).toEqual(["other"]);
    answer.resolve("answered");
    over.resolve(undefined);
    await Promise.all([paused, other]);
    expect(seen).toEqual(["other", "over", "answered"]);
  });

  it("gives the place of work that failed to the next", async () => {
    const slots = new Slots(1);
    const failed = slots.during(() => Promise.reject(new Error("no")));
    const next = slots.during(() => Promise.resolve("yes"));
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
    expect(await slots.during(() => Promise.resolve("again"))).toBe("again");
  });
});
