import { ClocheError } from "../base/errors.ts";
import type { Hint } from "../base/hint.ts";
import { argument, call, COMMAND_LINES, hintWords, way } from "./hint.ts";

/**
 * Every error code there is, with the exit code of the CLI, the HTTP status and the hint used when the place that
 * fails knows no better one. The list is closed: a test compares it with `docs/errors.md`.
 */
interface CodeRow {
  readonly exit: 1 | 2 | 125;
  readonly status: number;
  readonly hint: string | Hint;
}

const row = (exit: CodeRow["exit"], status: number, hint: CodeRow["hint"]): CodeRow => ({ exit, status, hint });

/** The one that the call which fails is about. */
const WORKSPACE = { workspace_id: null };
const STOP_AND_START: Hint = [
  way`Run ${call("stopWorkspace", WORKSPACE)}, then ${call("startWorkspace", WORKSPACE)}; the files of the workspace stay`,
];

export const ERROR_CODES = {
  // usage and configuration
  USAGE: row(2, 400, "Run the command with --help to see what it takes"),
  CONFIG_INVALID: row(2, 400, "Correct config.yaml in the cloche home, or remove it to use the defaults"),
  INVALID_ARGUMENT: row(2, 400, "Correct the named argument and try again"),
  MANIFEST_INVALID: row(2, 400, "Correct the named file; `cloche edit NAME` opens it and checks it again"),
  AGENT_NOT_FOUND: row(2, 404, "See `cloche list` for the agents there are, or make a first one with `cloche init`"),
  BOTTLE_NOT_FOUND: row(2, 404, "See `cloche list` for the bottles there are, or make a first one with `cloche init`"),
  PROVIDER_NOT_FOUND: row(2, 404, "Use a provider that comes with cloche, or write a plugin: see docs/providers.md"),
  VARIABLE_MISSING: row(2, 400, "Set the variable in the environment that `cloche start` is called in"),
  // what was named does not exist, or is taken
  WORKSPACE_NOT_FOUND: row(1, 404, [way`See ${call("listWorkspaces")} for the ids there are`]),
  WORKSPACE_AMBIGUOUS: row(1, 409, "Give more characters of the id"),
  WORKSPACE_NOT_RUNNING: row(1, 409, [way`Start it with ${call("startWorkspace", WORKSPACE)}`]),
  WORKSPACE_BUSY: row(1, 409, "Wait for the other operation on this workspace to end, then try again"),
  ENVIRONMENT_NOT_FOUND: row(2, 404, "See `cloche env list` for the environments there are"),
  BACKEND_NOT_FOUND: row(2, 404, "See `cloche doctor` for the backends there are"),
  COMMAND_NOT_FOUND: row(1, 404, [way`See ${call("logsWorkspace", WORKSPACE)} for the commands of the workspace`]),
  PORT_FAILED: row(1, 502, "Start what listens on that port in the sandbox, or choose another port"),
  WORKSPACE_NOT_STOPPED: row(1, 409, [way`Stop it first with ${call("stopWorkspace", WORKSPACE)}`]),
  SNAPSHOT_NOT_FOUND: row(1, 404, [way`See ${call("listSnapshots", WORKSPACE)} for the snapshots there are`]),
  SNAPSHOT_EXISTS: row(1, 409, "Choose another name, or delete the old one first"),
  SERVICE_NOT_FOUND: row(1, 404, [way`See ${call("listServices", WORKSPACE)} for the services there are`]),
  SERVICE_EXISTS: row(1, 409, "Stop the service first, or choose another name"),
  SERVICE_NOT_READY: row(1, 500, [
    way`See ${call("logsService", { ...WORKSPACE, service_name: null })} for all that it printed`,
  ]),
  SHELL_NOT_FOUND: row(1, 404, [way`Open one with ${call("openShell", WORKSPACE)}`]),
  SHELL_AMBIGUOUS: row(1, 409, [way`Name one of those that ${call("listShells", WORKSPACE)} shows`]),
  SHELL_NOT_RUNNING: row(1, 409, [way`Open a new one with ${call("openShell", WORKSPACE)}`]),
  SECRET_NOT_FOUND: row(1, 404, "Give the secret at `cloche workspace create --secret NAME=VALUE`"),
  SECRET_INVALID: row(
    2,
    400,
    "A secret has 4 to 65,536 bytes of text, those of a workspace 98,304 together, where one of several lines counts three times",
  ),
  EGRESS_POLICY_INVALID: row(2, 400, "Correct the egress policy; `docs/egress.md` has all that a route can have"),
  TOKEN_UNAVAILABLE: row(1, 502, "Run the token command by hand on this host, as the user who runs cloche"),
  GATE_FAILED: row(1, 502, "See gate/gate.log in the workspace's folder, then try again"),
  PORT_TAKEN: row(1, 409, "Choose another host port, or 0 for one that is free"),
  // programs that use cloche over MCP
  HOST_NOT_INSTALLED: row(1, 404, "Install the host first; `cloche host doctor` shows which are there"),
  HOST_DRIFTED: row(1, 409, "Run `cloche host repair HOST` to change the entry"),
  HOST_FAILED: row(1, 502, "Run the host's own command by hand to see all that it says"),
  // runs of agents
  RUN_NOT_FOUND: row(1, 404, "See `cloche list active --all` for the runs that work now and those that were kept"),
  RUN_ACTIVE: row(1, 409, "Sit down at it with `cloche attach IDENTITY`, or end it with `cloche stop IDENTITY`"),
  RUN_NOT_ACTIVE: row(1, 409, "Take it up with `cloche resume IDENTITY`"),
  RUN_STATE_INVALID: row(1, 409, "Look at state/IDENTITY in the cloche home; `cloche cleanup --all` removes it"),
  RUN_NOT_COMMITTED: row(1, 409, "Freeze it with `cloche commit IDENTITY`"),
  SKILL_NOT_FOUND: row(2, 404, "Skills are folders in ~/.claude/skills, or in $CLOCHE_SKILLS_DIR"),
  SKILL_INVALID: row(2, 400, "A skill is a folder with a SKILL.md and what belongs to it"),
  // what an agent asks the operator for
  PROPOSAL_NOT_FOUND: row(1, 404, [way`See ${call("listApprovals")} for those that wait`]),
  PROPOSAL_DECIDED: row(
    1,
    409,
    "An answer is given once; see `cloche approvals show PROPOSAL_ID` for the one that was given",
  ),
  PROPOSAL_CHANGED: row(1, 409, [
    way`Look at it again with ${call("showApproval", { proposal_id: null })}, then decide`,
  ]),
  PROPOSAL_INVALID: row(2, 400, "Correct what is proposed; `docs/supervise.md` has what each kind takes"),
  REASON_REQUIRED: row(2, 400, "Say why with --reason: it is kept, and told to the agent where it is a rejection"),
  REMEDIATION_UNSUPPORTED: row(1, 501, "Reject it, and change the environment in the bottle"),
  RULE_NOT_FOUND: row(1, 404, [way`See ${call("listApprovalRules")} for the rules there are`]),
  // the way home
  CHECKOUT_INVALID: row(
    1,
    409,
    "Name a git checkout with --to; `cloche workspace diff` prints the changes and `cloche workspace export` takes files out",
  ),
  APPLY_CONFLICT: row(
    1,
    409,
    "Commit or stash what you have there, or bring the changes home beside it with `--as branch`; `--dry-run` shows each",
  ),
  BRANCH_EXISTS: row(1, 409, "Name another branch with --branch"),
  AGENT_PROGRAM_NOT_FOUND: row(1, 404, "Install it in the environment, or name another environment in the bottle"),
  // the audit, and what is signed
  KEY_UNUSABLE: row(1, 500, "Look at keys/ in the cloche home"),
  AUDIT_BROKEN: row(
    1,
    500,
    "See what was changed with `cloche audit verify`; move the file away, and a new audit begins",
  ),
  EVIDENCE_INVALID: row(1, 422, "Ask for the file again, and for the public key of the installation that made it"),
  // paths and files
  PATH_OUTSIDE_WORKSPACE: row(2, 400, "Give a path under /workspace, relative or absolute"),
  HOST_ACCESS_REFUSED: row(
    1,
    403,
    "The operator of the MCP server can widen what its tools reach: see `cloche mcp serve --help`",
  ),
  FILE_NOT_FOUND: row(1, 404, [
    way`See ${call("listWorkspaceFiles", { ...WORKSPACE, recursive: true })} for what is there`,
  ]),
  FILE_WRONG_TYPE: row(1, 409, [way`See ${call("listWorkspaceFiles", WORKSPACE)} for what kind of file it is`]),
  FILE_TOO_LARGE: row(1, 413, [
    way`Read a part with ${argument("max_bytes")}`,
    way`take the file out with ${call("exportWorkspace")}`,
  ]),
  FILE_FAILED: row(1, 500, [way`Check the permissions and the space in the workspace with ${call("execWorkspace")}`]),
  OUTPUT_EXISTS: row(1, 409, "Choose an output path that does not exist"),
  OUTPUT_INVALID: row(2, 400, "Choose an output path in an existing folder you can write to"),
  PATCH_INVALID: row(2, 400, "Give a unified diff, such as `git diff` writes"),
  PATCH_REJECTED: row(1, 409, "Read the file as it is now and make the patch anew; nothing was written"),
  TOO_MANY_ENTRIES: row(1, 413, "List a folder further down"),
  // seeds
  SEED_NOT_FOUND: row(2, 404, "Give the path of an existing folder or .tar, .tar.gz or .tgz archive"),
  SEED_INVALID: row(2, 400, "Seed from a folder, a git checkout or an archive without links and names that leave it"),
  SEED_UNREADABLE: row(1, 403, "Make the named file readable, or have git ignore it"),
  // the sandbox and what it stands on
  BACKEND_UNAVAILABLE: row(125, 503, "Run `cloche doctor` to see what is missing"),
  SANDBOX_START_FAILED: row(125, 500, "Run `cloche doctor`; the reason is also in daemon.log in the cloche home"),
  SANDBOX_LOST: row(125, 410, [
    way`See ${call("statusWorkspace", WORKSPACE)}; ${call("startWorkspace", WORKSPACE)} starts it again with its files`,
  ]),
  GUEST_PROTOCOL: row(125, 502, STOP_AND_START),
  GUEST_VERSION: row(125, 502, STOP_AND_START),
  ENVIRONMENT_BUILD_FAILED: row(1, 500, "See the last lines of its output with `cloche env pull NAME --json`"),
  LIMIT_UNSUPPORTED: row(1, 501, "Run `cloche doctor` to see which limits hold on this host"),
  NETWORK_POLICY_UNSUPPORTED: row(1, 501, [way`Use ${argument("network_policy", "off")}`]),
  NOT_SUPPORTED: row(1, 501, "Run `cloche doctor` to see what each backend can do"),
  // the host
  DISK_FULL: row(1, 507, "Free some space where the cloche home and cache are, then try again"),
  DAEMON_UNREACHABLE: row(1, 503, "See daemon.log in the cloche home, then try again"),
  DAEMON_BUSY: row(1, 503, "Wait for some of the calls under way to end, then try again"),
  DAEMON_VERSION: row(1, 409, "Run `cloche daemon stop`, then try again"),
  CANCELLED: row(1, 499, "The caller ended the operation"),
  INTERNAL: row(1, 500, "This is a fault in cloche; daemon.log in the cloche home says more"),
} as const satisfies Record<string, CodeRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface FailOptions {
  hint?: string | Hint;
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** An error with a code of the closed list; the code's own hint unless a better one is given. */
export function failure(code: ErrorCode, message: string, options: FailOptions = {}): ClocheError {
  const { hint = ERROR_CODES[code].hint, ...rest } = options;
  return typeof hint === "string"
    ? new ClocheError(code, message, hint, rest)
    : new ClocheError(code, message, hintWords(hint, COMMAND_LINES), { ...rest, advice: hint });
}

/** The same error with what it advises said anew. */
export function withAdvice(error: ClocheError, advice: Hint): ClocheError {
  const { code, message, details, cause } = error;
  const renewed = new ClocheError(code, message, hintWords(advice, COMMAND_LINES), {
    advice,
    cause,
    ...(details && { details: { ...details } }),
  });
  if (error.stack !== undefined) renewed.stack = error.stack;
  return renewed;
}

/** The hint of a code in the words of a command line. */
export function defaultHint(code: ErrorCode): string {
  const { hint }: CodeRow = ERROR_CODES[code];
  return typeof hint === "string" ? hint : hintWords(hint, COMMAND_LINES);
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** An error as users of every surface see it. */
export interface ErrorDocument {
  error: { code: string; message: string; hint: string; details?: Readonly<Record<string, unknown>> };
}

export function toErrorDocument(error: ClocheError): ErrorDocument {
  const { code, message, hint, details } = error;
  return { error: { code, message, hint, ...(details && { details }) } };
}

/** The same between the daemon and its client, which is another surface's part: with the hint as data. */
export interface WireError {
  error: ErrorDocument["error"] & { advice?: Hint };
}

export function toWireError(error: ClocheError): WireError {
  const { error: document } = toErrorDocument(error);
  return { error: { ...document, ...(error.advice && { advice: error.advice }) } };
}
