import { measureBottle } from "./rows/bottle.mjs";
import { measureBusy } from "./rows/busy.mjs";
import { measureCreate } from "./rows/create.mjs";
import { measureCrowd } from "./rows/crowd.mjs";
import { measureDetection } from "./rows/detection.mjs";
import { measureDiff } from "./rows/diff.mjs";
import { measureDlp } from "./rows/dlp.mjs";
import { measureDocker } from "./rows/docker.mjs";
import { measureEgress } from "./rows/egress.mjs";
import { measureEvents } from "./rows/events.mjs";
import { measureExec } from "./rows/exec.mjs";
import { measureFiles } from "./rows/files.mjs";
import { measureForks } from "./rows/forks.mjs";
import { measureGit } from "./rows/git.mjs";
import { measureIdle } from "./rows/idle.mjs";
import { measureImport } from "./rows/import.mjs";
import { measureMcp } from "./rows/mcp.mjs";
import { measureProject } from "./rows/project.mjs";
import { measureShell } from "./rows/shell.mjs";
import { measureSnapshot } from "./rows/snapshot.mjs";
import { measureSupervise } from "./rows/supervise.mjs";
import { measureVersion } from "./rows/version.mjs";
import { measureVm } from "./rows/vm.mjs";
import { measureWork } from "./rows/work.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {object} Measurement gives one line of the table, or a few: at once where they are measured together, else one by one
 * @property {(bench: import("./bench.mjs").Bench) => Promise<Row[]> | AsyncGenerator<Row>} measure
 * @property {number} seconds its share of the whole; rounds that do not fit are left out
 * @property {readonly ("docker" | "runc")[]} [beside] peers that it needs
 */

/**
 * In the order in which they run: `project` times the first import of the large project, which those after it find imported.
 * All shares together are less than ten minutes, because peers and trees have to be made ready too.
 */
const TABLE = /** @satisfies {Record<string, Measurement>} */ ({
  create: { measure: measureCreate, seconds: 35, beside: ["docker", "runc"] },
  exec: { measure: measureExec, seconds: 20, beside: ["docker"] },
  docker: { measure: measureDocker, seconds: 30, beside: ["docker"] },
  vm: { measure: measureVm, seconds: 35, beside: ["docker"] },
  idle: { measure: measureIdle, seconds: 10 },
  crowd: { measure: measureCrowd, seconds: 30, beside: ["docker"] },
  work: { measure: measureWork, seconds: 35 },
  project: { measure: measureProject, seconds: 15 },
  import: { measure: measureImport, seconds: 20 },
  snapshot: { measure: measureSnapshot, seconds: 25 },
  busy: { measure: measureBusy, seconds: 30 },
  diff: { measure: measureDiff, seconds: 15 },
  forks: { measure: measureForks, seconds: 20 },
  files: { measure: measureFiles, seconds: 25 },
  shell: { measure: measureShell, seconds: 20 },
  events: { measure: measureEvents, seconds: 5 },
  egress: { measure: measureEgress, seconds: 40 },
  bottle: { measure: measureBottle, seconds: 20 },
  supervise: { measure: measureSupervise, seconds: 15 },
  dlp: { measure: measureDlp, seconds: 5 },
  detection: { measure: measureDetection, seconds: 10 },
  git: { measure: measureGit, seconds: 20 },
  mcp: { measure: measureMcp, seconds: 20 },
  version: { measure: measureVersion, seconds: 10 },
});

/** @typedef {keyof typeof TABLE} RowName */

/** @type {Readonly<Record<RowName, Measurement>>} */
export const ROWS = TABLE;
export const ROW_NAMES = /** @type {RowName[]} */ (Object.keys(ROWS));
