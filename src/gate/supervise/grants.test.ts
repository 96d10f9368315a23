import { expect, it } from "vitest";
import { GRANT_SECONDS } from "../../model/proposal-kinds.ts";
import { Grants } from "./grants.ts";

const once = { kind: "push-allow", key: "k", proposal_id: "p-1", valid_until: 2000 } as const;

it("G-99: lets the same pass once, and what is approved for the run again and again", () => {
  const grants = new Grants(() => undefined, { now: () => 1000 });
  grants.add(once);
  expect(grants.take("dlp-allow", ["k"])).toBeUndefined();
  expect(grants.take("push-allow", ["another"])).toBeUndefined();
  expect(grants.take("push-allow", ["k"])).toMatchObject({ proposal_id: "p-1" });
  expect(grants.take("push-allow", ["k"])).toBeUndefined();
  grants.add({ kind: "dlp-allow", key: "shape", proposal_id: "p-2", valid_until: null });
  for (let at = 0; at < 3; at++) expect(grants.take("dlp-allow", ["digest", "shape"])).toBeDefined();
});

it("G-99: is over after its time, also when the clock was set back", () => {
  let [now, monotonic] = [1000, 0];
  const grants = new Grants(() => undefined, { now: () => now, monotonic: () => monotonic });
  grants.add({ ...once, valid_until: now + 100 });
  now -= 50_000;
  monotonic += 101;
  expect(grants.take("push-allow", ["k"])).toBeUndefined();
  // Of a gate that was killed and whose clock was set back meanwhile.
  grants.restore([{ ...once, valid_until: 1100 }]);
  monotonic += GRANT_SECONDS + 1;
  expect(grants.take("push-allow", ["k"])).toBeUndefined();
});

it("writes down that it was used before anything passes", () => {
  const kept: number[] = [];
  const grants: Grants = new Grants(() => kept.push(grants.kept.length), { now: () => 1000 });
  grants.add(once);
  grants.take("push-allow", ["k"]);
  expect(kept).toEqual([1, 0]);
});
