import { expect, it } from "vitest";
import type { ProposalKind } from "../model/proposal.ts";
import { ActiveRun } from "./active-run.ts";
import { lineFor, wasPending } from "./idle-agents.ts";

const decided = (status: "approved" | "modified" | "rejected" | "expired", kind: ProposalKind = "egress-block") => ({
  proposal_id: "p-0123456789",
  proposal_kind: kind,
  status,
});

it("an agent is told what was decided, and what to do", () => {
  expect(lineFor(decided("approved"))).toBe(
    "cloche: the operator approved egress-block proposal p-0123456789. Try again what it was for.",
  );
  expect(lineFor(decided("modified"))).toContain("approved egress-block proposal p-0123456789, with changes.");
  expect(lineFor(decided("rejected", "capability-block"))).toContain(
    "rejected capability-block proposal p-0123456789.",
  );
  expect(lineFor(decided("expired"))).toBeUndefined();
  expect(lineFor(decided("approved", "capability-block"))).toBeUndefined();
});

it("G-136 nothing of a proposal or of its reason is typed, and no id of another form", () => {
  const rest = {
    reason: "\u001b[31m; rm -rf /\r",
    proposed: { routes: [{ host: "x\ry" }] },
    adds: "\r",
    justification: "\r",
  };
  for (const status of ["approved", "rejected"] as const) {
    const line = lineFor({ ...decided(status), ...rest });
    expect(line).toBe(lineFor(decided(status)));
    expect(line).toMatch(/^[\x20-\x7e]+$/);
  }
  for (const proposal_id of ["p-01234567\r9", "x", "p-0123456789\r", ""])
    expect(lineFor({ ...decided("approved"), proposal_id })).toBeUndefined();
});

it.each([
  ["egress-block", 29, false],
  ["egress-block", 30, true],
  ["dlp-allow", 30, true],
  ["push-allow", 299, false],
  ["push-allow", 300, true],
] as const)("a %s that was decided after %i seconds was answered as pending before: %s", (kind, seconds, expected) => {
  expect(wasPending({ kind, created_at: 1000, decided_at: 1000 + seconds })).toBe(expected);
  expect(wasPending({ kind, created_at: 1000, decided_at: null })).toBe(false);
});

it("what somebody has begun to type is known until they press Enter", () => {
  const run = new ActiveRun({} as never, {} as never, { kind: "shell", shell_id: "s" });
  const after = (text: string): boolean => {
    run.typed(Buffer.from(text));
    return run.isHalfTyped;
  };
  expect([
    run.isHalfTyped,
    after("rev"),
    after("\u001b[I"),
    after("iew\r"),
    after("\u001b[<0;1;1M"),
    after("x"),
  ]).toEqual([false, true, true, false, false, true]);
});
