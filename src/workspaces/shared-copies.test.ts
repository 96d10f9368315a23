import { expect, it } from "vitest";
import { SharedCopies } from "./shared-copies.ts";
import { Turns } from "./turns.ts";

function setUp(fail = false) {
  const turns = new Turns();
  const log: string[] = [];
  let copies = 0;
  const shared = new SharedCopies((id, begun, keep) =>
    turns.take(id, async () => {
      begun();
      const own = ++copies;
      log.push(`copy ${own}`);
      await new Promise((done) => setImmediate(done));
      if (fail) throw new Error("no room");
      await keep([`ly-${own}`]);
    }),
  );
  return { shared, log };
}

it("copies once for all that wait, and never for one that came after the copy began", async () => {
  const { shared, log } = setUp();
  const use = (layers: string[]) => Promise.resolve(layers[0]);
  const first = shared.share("a", use);
  await Promise.resolve();
  const later = Array.from({ length: 5 }, () => shared.share("a", use));
  expect([await first, ...(await Promise.all(later))]).toEqual(["ly-1", ...Array.from({ length: 5 }, () => "ly-2")]);
  expect(await shared.share("a", use)).toBe("ly-3");
  expect(log).toEqual(["copy 1", "copy 2", "copy 3"]);
});

it("refuses who failed, or all when there is no copy", async () => {
  const { shared } = setUp();
  const results = await Promise.allSettled([
    shared.share("a", () => Promise.reject(new Error("no sandbox"))),
    shared.share("a", () => Promise.resolve("made")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  const none = setUp(true).shared;
  const use = () => Promise.resolve(1);
  const refused = await Promise.allSettled([none.share("a", use), none.share("a", use)]);
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
