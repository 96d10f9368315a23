import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { RunMetadata } from "../model/run.ts";
import type { Proposals } from "../supervise/proposals.ts";
import type { RunParts } from "./run-parts.ts";
import { RunStates } from "./run-states.ts";
import { endMove, settleChanges } from "./unfinished-move.ts";

const CHANGE = { packages: ["jq"], steps: [], proposal_id: "p-0123456789", reason: "it is needed" };
const TARGET = "changed:0123456789abcdef/debian:12";
const MOVING = { environment: TARGET, whole: `layered/${TARGET}`, changes: [CHANGE] };
const RUN: RunMetadata = {
  version: 1,
  identity: "dev-abcde",
  agent_name: "dev",
  backend: "container",
  environment: "debian:12",
  cwd: "/",
  copy_cwd: false,
  started_at: 1,
  label: null,
  color: null,
  bottle_names: ["dev"],
  workspace_id: "ws-0123456789",
  session_id: "s",
  session: null,
  resumed_at: null,
  ended_at: null,
  exit_code: null,
  committed_at: null,
  stopped_at: 2,
  changes: [],
  moving: MOVING,
};

let folder: string;
let states: RunStates;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-um-"));
  states = new RunStates(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Of an installation whose workspace has that environment. */
const partsWith = (environment: string): Pick<RunParts, "deps" | "states"> => {
  const deps = { store: { findWorkspace: () => ({ environment }) }, log: { warn: () => undefined } };
  return { deps: deps as unknown as RunParts["deps"], states };
};

it.each([
  ["the new environment", MOVING.whole, { environment: TARGET, changes: [CHANGE] }],
  ["the old environment", "layered/debian:12", { environment: "debian:12", changes: [] }],
])("a run whose move was cut off has what its workspace has: %s", async (_where, environment, expected) => {
  await states.write(RUN);
  expect(await endMove(partsWith(environment), RUN)).toMatchObject(expected);
  expect(states.read(RUN.identity)).toMatchObject({ ...expected, stopped_at: 2 });
});

/** What is approved of one proposal that waits. */
async function settled(changes: RunMetadata["changes"], proposed: object) {
  await states.write({ ...RUN, moving: null, changes });
  const approved: unknown[] = [];
  const proposals = {
    list: () => ({ proposals: [{ proposal_id: CHANGE.proposal_id, identity: RUN.identity, proposed }] }),
    approve: (input: unknown) => Promise.resolve(approved.push(input)),
  } as unknown as Proposals;
  await settleChanges(partsWith(""), proposals);
  return approved;
}

it("G-135 a change that a run has is written down as approved, and no other one is", async () => {
  const { proposal_id, reason } = CHANGE;
  expect(await settled([CHANGE], { packages: ["jq"] })).toEqual([{ proposal_id, reason }]);
  const { packages, steps } = CHANGE;
  expect(await settled([CHANGE], { packages: ["yq"] })).toEqual([
    { proposal_id, reason, proposed: { packages, steps } },
  ]);
  expect(await settled([], { packages: ["jq"] })).toEqual([]);
  expect(await settled([{ ...CHANGE, proposal_id: "p-9876543210" }], { packages: ["jq"] })).toEqual([]);
});
