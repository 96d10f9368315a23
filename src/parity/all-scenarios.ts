import type { Scenario } from "./scenario.ts";
import { ADOPTION_SCENARIOS } from "./scenarios/adoption.ts";
import { CHANGE_SCENARIOS } from "./scenarios/changes.ts";
import { COMMAND_SCENARIOS } from "./scenarios/commands.ts";
import { EGRESS_SCENARIOS } from "./scenarios/egress.ts";
import { FILE_SCENARIOS } from "./scenarios/files.ts";
import { GIT_GATE_SCENARIOS } from "./scenarios/git-gate.ts";
import { ISOLATION_SCENARIOS } from "./scenarios/isolation.ts";
import { LIFE_SCENARIOS } from "./scenarios/life.ts";
import { LIMIT_SCENARIOS } from "./scenarios/limits.ts";
import { LIVE_SNAPSHOT_SCENARIOS } from "./scenarios/live-snapshots.ts";
import { MOVING_SCENARIOS } from "./scenarios/moving.ts";
import { REFUSAL_SCENARIOS } from "./scenarios/refusals.ts";
import { RUN_SCENARIOS } from "./scenarios/runs.ts";
import { SECRET_SCENARIOS } from "./scenarios/secrets.ts";
import { SERVICE_SCENARIOS } from "./scenarios/services.ts";
import { SHELL_SCENARIOS } from "./scenarios/shells.ts";
import { SNAPSHOT_SCENARIOS } from "./scenarios/snapshots.ts";
import { SUPERVISE_SCENARIOS } from "./scenarios/supervise.ts";

/** Everything that has to be the same on every backend. */
export const PARITY_SCENARIOS: readonly Scenario[] = [
  ...LIFE_SCENARIOS,
  ...COMMAND_SCENARIOS,
  ...FILE_SCENARIOS,
  ...CHANGE_SCENARIOS,
  ...SNAPSHOT_SCENARIOS,
  ...LIVE_SNAPSHOT_SCENARIOS,
  ...SERVICE_SCENARIOS,
  ...EGRESS_SCENARIOS,
  ...GIT_GATE_SCENARIOS,
  ...RUN_SCENARIOS,
  ...SUPERVISE_SCENARIOS,
  ...SHELL_SCENARIOS,
  ...SECRET_SCENARIOS,
  ...LIMIT_SCENARIOS,
  ...ISOLATION_SCENARIOS,
  ...ADOPTION_SCENARIOS,
  ...MOVING_SCENARIOS,
  ...REFUSAL_SCENARIOS,
];
