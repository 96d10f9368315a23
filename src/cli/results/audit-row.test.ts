import { expect, it } from "vitest";
import type { AuditEntry } from "../../model/audit.ts";
import { auditRow } from "./audit-row.ts";

const row = (details: AuditEntry["details"]) =>
  auditRow({
    sequence: 7,
    time: 0,
    identity: "fixer-k3x9a",
    workspace_id: "ws-1",
    kind: "proposal.decided",
    operator: "ada",
    events: { first: 1, last: 1, count: 1 },
    details,
    through: 1,
    previous: "",
    hash: "",
    signature: "",
  }).at(-1);

it("tells how a proposal was answered before what is long, which is cut", () => {
  const what = row({
    adds: "x".repeat(200),
    hash_after: "y".repeat(64),
    proposal_id: "p-1",
    reason: "use the mirror",
    scope: null,
    status: "rejected",
  });
  expect(what).toMatch(/^status=rejected, proposal_id=p-1, reason=use the mirror, adds=x+…$/);
});

it("leaves what is told of nothing out, and keeps the order of the rest", () => {
  expect(row({ b: null, c: [], port: 443, host: "a.example.com" })).toBe("port=443, host=a.example.com");
});
