import { ClocheError } from "../base/errors.ts";

/**
 * Every error code there is, with the exit code of the CLI, the HTTP status and the hint used when the place that
 * fails knows no better one. The list is closed: a test compares it with `docs/errors.md`.
 */
interface CodeRow {
  readonly exit: 1 | 2 | 125;
  readonly status: number;
  readonly hint: string;
}

const row = (exit: CodeRow["exit"], status: number, hint: string): CodeRow => ({ exit, status, hint });

export const ERROR_CODES = {
  // usage and configuration
  USAGE: row(2, 400, "Run the command with --help to see what it takes"),
  CONFIG_INVALID: row(2, 400, "Correct config.yaml in the cloche home, or remove it to use the defaults"),
  INVALID_ARGUMENT: row(2, 400, "Correct the named argument and try again"),
  // what was named does not exist, or is taken
  WORKSPACE_NOT_FOUND: row(1, 404, "See `cloche workspace list` for the ids there are"),
  WORKSPACE_AMBIGUOUS: row(1, 409, "Give more characters of the id"),
  WORKSPACE_NOT_RUNNING: row(1, 409, "Start it with `cloche workspace start ID`"),
  WORKSPACE_BUSY: row(1, 409, "Wait for the other operation on this workspace to end, then try again"),
  ENVIRONMENT_NOT_FOUND: row(2, 404, "See `cloche env list` for the environments there are"),
  BACKEND_NOT_FOUND: row(2, 404, "See `cloche doctor` for the backends there are"),
  COMMAND_NOT_FOUND: row(1, 404, "See `cloche workspace logs ID` for the commands of the workspace"),
  PORT_FAILED: row(1, 502, "Start what listens on that port in the sandbox, or choose another port"),
  WORKSPACE_NOT_STOPPED: row(1, 409, "Stop it first with `cloche workspace stop ID`"),
  SNAPSHOT_NOT_FOUND: row(1, 404, "See `cloche workspace snapshot list ID` for the snapshots there are"),
  SNAPSHOT_EXISTS: row(1, 409, "Choose another name, or delete the old one first"),
  SERVICE_NOT_FOUND: row(1, 404, "See `cloche workspace service list ID` for the services there are"),
  SERVICE_EXISTS: row(1, 409, "Stop the service first, or choose another name"),
  SERVICE_NOT_READY: row(1, 500, "See `cloche workspace service logs ID NAME` for all that it printed"),
  SHELL_NOT_FOUND: row(1, 404, "Open one with `cloche workspace shell open ID`"),
  SHELL_NOT_RUNNING: row(1, 409, "Open a new one with `cloche workspace shell open ID`"),
  SECRET_NOT_FOUND: row(1, 404, "Give the secret at `cloche workspace create --secret NAME=VALUE`"),
  SECRET_INVALID: row(
    2,
    400,
    "A secret has 4 to 65,536 bytes of text, those of a workspace 98,304 together, where one of several lines counts three times",
  ),
  GATE_FAILED: row(1, 502, "See gate/gate.log in the workspace's folder, then try again"),
  PORT_TAKEN: row(1, 409, "Choose another host port, or 0 for one that is free"),
  // programs that use cloche over MCP
  HOST_NOT_INSTALLED: row(1, 404, "Install the host first; `cloche host doctor` shows which are there"),
  HOST_DRIFTED: row(1, 409, "Run `cloche host repair HOST` to change the entry"),
  HOST_FAILED: row(1, 502, "Run the host's own command by hand to see all that it says"),
  // paths and files
  PATH_OUTSIDE_WORKSPACE: row(2, 400, "Give a path under /workspace, relative or absolute"),
  HOST_ACCESS_REFUSED: row(
    1,
    403,
    "The operator of the MCP server can widen what its tools reach: see `cloche mcp serve --help`",
  ),
  FILE_NOT_FOUND: row(1, 404, "See `cloche workspace file list ID --recursive` for what is there"),
  FILE_WRONG_TYPE: row(1, 409, "See `cloche workspace file list ID` for what kind of file it is"),
  FILE_TOO_LARGE: row(1, 413, "Read a part with --max-bytes, or take the file out with `cloche workspace export`"),
  FILE_FAILED: row(1, 500, "Check the permissions and the space in the workspace with `cloche workspace exec`"),
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
  SANDBOX_LOST: row(
    125,
    410,
    "See `cloche workspace status ID`; `cloche workspace start ID` starts it again with its files",
  ),
  GUEST_PROTOCOL: row(
    125,
    502,
    "Run `cloche workspace stop ID`, then `cloche workspace start ID`; the files of the workspace stay",
  ),
  GUEST_VERSION: row(
    125,
    502,
    "Run `cloche workspace stop ID`, then `cloche workspace start ID`; the files of the workspace stay",
  ),
  ENVIRONMENT_BUILD_FAILED: row(1, 500, "See the last lines of its output with `cloche env pull NAME --json`"),
  LIMIT_UNSUPPORTED: row(1, 501, "Run `cloche doctor` to see which limits hold on this host"),
  NETWORK_POLICY_UNSUPPORTED: row(1, 501, "Use --network-policy off"),
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
  hint?: string;
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** An error with a code of the closed list; the code's own hint unless a better one is given. */
export function failure(code: ErrorCode, message: string, options: FailOptions = {}): ClocheError {
  const { hint, ...rest } = options;
  return new ClocheError(code, message, hint ?? ERROR_CODES[code].hint, rest);
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** The wire form of an error. */
export interface ErrorDocument {
  error: { code: string; message: string; hint: string; details?: Readonly<Record<string, unknown>> };
}

export function toErrorDocument(error: ClocheError): ErrorDocument {
  const { code, message, hint, details } = error;
  return { error: { code, message, hint, ...(details && { details }) } };
}
