import { spawn } from "node:child_process";
import { errnoOf } from "../base/errors.ts";
import { type ErrorCode, failure } from "../model/error-codes.ts";
import { idleMark, waitedFor } from "./stuck-git.ts";

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  readonly signal: AbortSignal;
  readonly cwd?: string | undefined;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Also the user's and the host's configuration; only for reading a value. */
  readonly userConfig?: boolean;
  /** In place of what the project configures. */
  readonly config?: readonly (readonly [string, string])[];
  /** What it is for, and the code of the error when git cannot be used: an import, unless it is said. */
  readonly purpose?: { readonly code: ErrorCode; readonly doing: string };
}

const IMPORT = { code: "SEED_INVALID", doing: "import a git project" } as const;

// SECURITY: a project's own configuration must not run a program on the host, reach the network or change the project (G-13).
// fsmonitor and hooks are the two that the commands used here could start; a lazy fetch is the one way to the network.
const FORCED: readonly (readonly [string, string])[] = [
  ["safe.directory", "*"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  // SECURITY: an index of packs names packs by path, also those of another repository (G-01)
  ["core.multiPackIndex", "false"],
];

function gitEnvironment(options: GitOptions): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "XDG_CONFIG_HOME"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  env["LC_ALL"] = "C";
  env["GIT_OPTIONAL_LOCKS"] = "0";
  env["GIT_TERMINAL_PROMPT"] = "0";
  env["GIT_NO_LAZY_FETCH"] = "1";
  env["GIT_ALLOW_PROTOCOL"] = "none";
  if (!options.userConfig) {
    env["GIT_CONFIG_GLOBAL"] = "/dev/null";
    env["GIT_CONFIG_SYSTEM"] = "/dev/null";
    env["GIT_CONFIG_NOSYSTEM"] = "1";
  }
  const forced = [...FORCED, ...(options.config ?? [])];
  env["GIT_CONFIG_COUNT"] = String(forced.length);
  forced.forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${String(index)}`] = key;
    env[`GIT_CONFIG_VALUE_${String(index)}`] = value;
  });
  return { ...env, ...options.env };
}

const LOOK_MS = 500;
/** Git that has done nothing for so many looks is asked what it waits for; for so many more, it is given up whatever that is. */
const ASK_AFTER_LOOKS = 3;
const GIVE_UP_AFTER_LOOKS = 240;

/**
 * Calls `stuck` when a process waits for what never comes.
 * SECURITY: git opens the files of a project by their names, and a pipe of such a name holds it for ever (G-13).
 */
function watchProgress(pid: number, heard: () => number, stuck: (path: string | undefined) => void): () => void {
  let last = "";
  let idle = 0;
  const timer = setInterval(() => {
    const mark = idleMark(pid);
    const now = `${mark} ${heard()}`;
    idle = mark !== undefined && now === last ? idle + 1 : 0;
    last = now;
    const path = idle >= ASK_AFTER_LOOKS ? waitedFor(pid) : undefined;
    if (path === undefined && idle < GIVE_UP_AFTER_LOOKS) return;
    clearInterval(timer);
    stuck(path);
  }, LOOK_MS);
  return () => clearInterval(timer);
}

function stuckGit(path: string | undefined, { code, doing }: NonNullable<GitOptions["purpose"]>): Error {
  const what = path === undefined ? "git does nothing any more" : `git waits for "${path}", which is no ordinary file`;
  return failure(code, `Cannot ${doing}: ${what}`, {
    hint: path === undefined ? "Run `git status` there and see what it waits for" : "Remove it, then try again",
    ...(path !== undefined && { details: { path } }),
  });
}

/** Runs git to its end. Rejects only when git cannot be started, waits for what never comes, or the signal aborts. */
export function runGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, {
      cwd: options.cwd ?? "/",
      env: gitEnvironment(options),
      signal: options.signal,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let stderrBytes = 0;
    let heard = 0;
    const stopWatching = watchProgress(
      child.pid ?? 0,
      () => heard,
      (path) => {
        reject(stuckGit(path, options.purpose ?? IMPORT));
        child.kill("SIGKILL");
      },
    );
    child.stdout.on("data", (chunk: Buffer) => {
      heard += chunk.length;
      stdout.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if ((stderrBytes += chunk.length) <= 65_536) stderr.push(chunk);
    });
    // git may end without reading its input; its exit code tells
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.on("error", (error) => {
      stopWatching();
      if (options.signal.aborted)
        reject(failure("CANCELLED", options.purpose ? "It was cancelled" : "The import was cancelled"));
      else if (errnoOf(error) === "ENOENT") reject(gitMissing(options.purpose ?? IMPORT));
      else reject(error);
    });
    child.on("close", (exitCode) => {
      stopWatching();
      resolve({
        exitCode: exitCode ?? 1,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString("utf8").trim(),
      });
    });
  });
}

function gitMissing({ code, doing }: NonNullable<GitOptions["purpose"]>): Error {
  return failure(code, `Cannot ${doing}: git is not installed`, {
    hint: "Install git (Debian: apt-get install git), then try again",
  });
}
