import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedCopies } from "./shared-copies.ts";
import { Turns } from "../base/turns.ts";

function setUp({ copyMs = 0, fails = false } = {}) {
  const turns = new Turns();
  const log: string[] = [];
  let copies = 0;
  const shared = new SharedCopies((id, { signal, begun, keep }) =>
    turns.take(id, async () => {
      begun();
      const own = ++copies;
      log.push(`copy ${own}`);
      await sleep(copyMs, undefined, { signal });
      if (fails) throw new Error("no room");
      log.push(`copied ${own}`);
      await keep([`ly-${own}`]);
    }),
  );
  return { shared, log };
}

const use = (layers: string[]) => Promise.resolve(layers[0]);

it("copies once for all of one moment, and never gives an older copy than was asked for", async () => {
  const { shared, log } = setUp({ copyMs: 150 });
  const first = Array.from({ length: 5 }, () => shared.share("a", use));
  await sleep(5);
  first.push(shared.share("a", use));
  await sleep(80);
  const later = Array.from({ length: 3 }, () => shared.share("a", use));
  const made = await Promise.all([...first, ...later]);
  expect(new Set(made.slice(0, 6)).size).toBe(1);
  expect(new Set(made.slice(6)).size).toBe(1);
  expect(made[6]).not.toBe(made[0]);
  expect(log.filter((line) => line.startsWith("copied"))).toHaveLength(2);
});

it("refuses who failed, or all when there is no copy", async () => {
  const { shared } = setUp();
  const results = await Promise.allSettled([
    shared.share("a", () => Promise.reject(new Error("no sandbox"))),
    shared.share("a", () => Promise.resolve("made")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  const none = setUp({ fails: true }).shared;
  const refused = await Promise.allSettled([none.share("a", use), none.share("a", use)]);
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
