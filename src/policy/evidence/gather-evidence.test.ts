import { expect, it } from "vitest";
import type { ClocheEvent } from "../../model/event.ts";
import { GatheredEvidence } from "./gather-evidence.ts";

const head = { time: 1, workspace_id: "ws-1", identity: "fixer-1" };

it("G-188: says how many events of a gate were lost, in whatever order they are told", () => {
  const gathered = new GatheredEvidence("fixer-1");
  expect(gathered.missing).toEqual([]);
  const lost = (sequence: number, count: number): ClocheEvent => ({ ...head, sequence, kind: "egress.lost", count });
  gathered.add(lost(1, 1));
  expect(gathered.missing).toEqual(["1 event of its gate, which no daemon took in time"]);
  gathered.add(lost(7, 41));
  expect(gathered.missing).toEqual(["42 events of its gate, which no daemon took in time"]);
});
