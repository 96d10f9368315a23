import { spawn } from "node:child_process";
import { errnoOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

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
}

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
  env["GIT_CONFIG_COUNT"] = String(FORCED.length);
  FORCED.forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${String(index)}`] = key;
    env[`GIT_CONFIG_VALUE_${String(index)}`] = value;
  });
  return { ...env, ...options.env };
}

/** Runs git to its end. Rejects only when git cannot be started or the signal aborts. */
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
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      if ((stderrBytes += chunk.length) <= 65_536) stderr.push(chunk);
    });
    // git may end without reading its input; its exit code tells
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.on("error", (error) => {
      if (options.signal.aborted) reject(failure("CANCELLED", "The import was cancelled"));
      else if (errnoOf(error) === "ENOENT") reject(gitMissing());
      else reject(error);
    });
    child.on("close", (exitCode) => {
      resolve({
        exitCode: exitCode ?? 1,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString("utf8").trim(),
      });
    });
  });
}

function gitMissing(): Error {
  return failure("SEED_INVALID", "Cannot import a git project: git is not installed", {
    hint: "Install git (Debian: apt-get install git), then try again",
  });
}
