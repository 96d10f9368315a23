import { describe, expect, it } from "vitest";
import type { BackendCapabilities } from "../contracts/backend.ts";
import type { RunChange } from "../model/run.ts";
import type { RunParts } from "./run-parts.ts";
import type { Runs } from "./runs.ts";
import { capabilityEffect } from "./capability-effect.ts";

const PLAIN: BackendCapabilities = { hostFolders: true, ociRuntime: false, liveSnapshots: false };
const APPROVAL = { proposal_id: "p-0123456789", reason: null };
const SUBJECT = { workspace_id: "ws-0123456789", identity: "dev-abcde", agent_name: "dev", bottle_names: ["dev"] };

/** A run on one of two backends, of which one declares remediation. */
function effectFor(backend: "able" | "unable", environment: string, changes: readonly RunChange[] = []) {
  const asked: unknown[] = [];
  const metadata = { identity: SUBJECT.identity, backend, environment, changes };
  const backends = new Map([
    ["able", { name: "able", capabilities: { ...PLAIN, remediation: true } }],
    ["unable", { name: "unable", capabilities: PLAIN }],
  ]);
  const parts = { deps: { backends }, states: { read: () => metadata } } as unknown as RunParts;
  const runs = {
    remediate: (...words: unknown[]) => {
      asked.push(words.slice(0, 2));
      return Promise.resolve();
    },
  } as unknown as Runs;
  return { effect: capabilityEffect(parts, () => runs), asked };
}

async function approve(backend: "able" | "unable", environment: string, changes: readonly RunChange[] = []) {
  const { effect, asked } = effectFor(backend, environment, changes);
  const order: string[] = [];
  const settlement = {
    by: { proposal_id: APPROVAL.proposal_id, decided_by: "ann" },
    reason: APPROVAL.reason,
    check: () => void order.push("check"),
    settle: () => void order.push("settle"),
    progress: () => undefined,
  };
  const code = await effect.apply(SUBJECT, { packages: ["jq"] }, "run", settlement).then(
    () => "done",
    (error: unknown) => (error as { code: string }).code,
  );
  return { code, asked, order };
}

describe("an approved change of an environment", () => {
  it("is made by the backend of the run, and answered when it is made", async () => {
    const { code, asked, order } = await approve("able", "debian:12");
    expect([code, order]).toEqual(["done", ["check", "settle"]]);
    expect(asked).toEqual([[SUBJECT.identity, { packages: ["jq"], steps: [], ...APPROVAL }]]);
  });

  it("is not made again when a daemon that ended too early has made it", async () => {
    const made = { packages: ["jq"], steps: [], ...APPROVAL };
    expect(await approve("able", "debian:12", [made])).toEqual({ code: "done", asked: [], order: ["settle"] });
    const other = { ...made, proposal_id: "p-9876543210" };
    expect((await approve("able", "debian:12", [other])).asked).toHaveLength(1);
  });

  it.each([
    ["on a backend that does not declare it", "unable", "debian:12"],
    ["in the environment of the host", "able", "host"],
  ] as const)("G-107 touches nothing %s", async (_where, backend, environment) => {
    expect(await approve(backend, environment)).toEqual({ code: "REMEDIATION_UNSUPPORTED", asked: [], order: [] });
  });

  it("shows what the environment was given, and what it would be given", () => {
    const { effect } = effectFor("able", "debian:12");
    expect(effect.look(SUBJECT, { steps: ["true"] })).toEqual({
      current: { environment: "debian:12", changes: [] },
      after: { environment: "debian:12", changes: [{ packages: [], steps: ["true"] }] },
      routes: [],
    });
  });
});
