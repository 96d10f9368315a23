import { describe, expect, it } from "vitest";
import { SharedWork } from "./shared-work.ts";

describe("SharedWork", () => {
  it("does the work of all that wait in one run, and never joins one that has begun", async () => {
    const shared = new SharedWork<number>();
    let runs = 0;
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const work = async () => {
      const own = (runs += 1);
      await gate;
      return own;
    };
    const first = shared.join("k", work, {});
    await Promise.resolve();
    await Promise.resolve();
    expect(runs).toBe(1);
    const later = [1, 2, 3].map(() => shared.join("k", work, {}));
    release();
    expect(await first).toBe(1);
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
  });

  it("goes on while one caller is left and is aborted with the last", async () => {
    const shared = new SharedWork<string>();
    const callers = [new AbortController(), new AbortController()];
    let aborted = false;
    const work = (_: unknown, signal: AbortSignal) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(new Error("stopped"));
        });
      });
    const [one, two] = callers.map(({ signal }) => shared.join("k", work, { signal }));
    await Promise.resolve();
    callers[0]!.abort();
    await expect(one).rejects.toMatchObject({ code: "CANCELLED" });
    expect(aborted).toBe(false);
    callers[1]!.abort();
    await expect(two).rejects.toThrow("stopped");
    expect(aborted).toBe(true);
    await expect(shared.join("k", () => Promise.resolve("again"), {})).resolves.toBe("again");
  });
});
