import assert from "node:assert/strict";
import type { ParityContext } from "./context.ts";

/** How far the two clocks may be apart. */
const APART_SECONDS = 2;

/** A workspace has the time of the host: its answer lies between the question and its coming, however long that took. */
export async function expectRightClock(at: ParityContext, workspaceId: string): Promise<void> {
  const asked = Date.now() / 1000;
  const told = Number(await at.out(workspaceId, "date +%s.%N"));
  const came = Date.now() / 1000;
  assert.ok(told > asked - APART_SECONDS && told < came + APART_SECONDS, `${told}, asked at ${asked}, told at ${came}`);
}
