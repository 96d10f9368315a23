import { failure } from "../model/error-codes.ts";
import { spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface BuildCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly stdin?: number | undefined;
  /** Descriptor that gets the standard output; nothing is kept of it otherwise. */
  readonly stdout?: number | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Debian packages that have the command. */
  readonly packages: string;
}

const KEPT_LINES = 50;
const GRACE_MS = 5000;

/**
 * Runs the command as the leader of a process group that ends when this process does: the shell in front waits on a pipe whose other end is
 * here. Without it a builder that is killed would leave a package manager writing into a folder that the next builder removes.
 */
export const WATCHED = `
( exec </dev/null >/dev/null 2>&1; read -r _ <&3; trap '' TERM; kill -TERM 0; sleep 5; kill -KILL 0 ) &
watcher=$!
"$@" 3<&-; code=$?
kill -KILL $watcher
exit $code
`;

/** Resolves when the command ends with 0; else throws with the line that tells why. */
export async function runBuildCommand(command: BuildCommand): Promise<void> {
  const [program] = command.argv;
  command.signal?.throwIfAborted();
  const stdio: StdioOptions = [command.stdin ?? "ignore", command.stdout ?? "ignore", "pipe", "pipe"];
  const child = spawn("sh", ["-c", WATCHED, "sh", ...command.argv], { stdio, env: command.env, detached: true });
  const lines: string[] = [];
  const alive = child.stdio[3];
  alive?.on("error", () => undefined); // it has ended by itself
  if (child.stderr) {
    createInterface({ input: child.stderr, crlfDelay: Infinity }).on("line", (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      command.onLine?.(line);
    });
  }
  let killing: NodeJS.Timeout | undefined;
  const onAbort = () => {
    killGroup(child.pid, "SIGTERM");
    killing = setTimeout(() => killGroup(child.pid, "SIGKILL"), GRACE_MS);
  };
  command.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    command.signal?.throwIfAborted();
    if (code === 0) return;
    throw commandFailure(program, command.packages, code, lines);
  } finally {
    command.signal?.removeEventListener("abort", onAbort);
    clearTimeout(killing);
    alive?.destroy();
  }
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // the group has ended: nothing is left to kill
  }
}

function commandFailure(program: string, packages: string, code: number | null, lines: readonly string[]) {
  if (code === 127) {
    return failure("ENVIRONMENT_BUILD_FAILED", `Cannot build the environment: ${program} is not installed`, {
      hint: `Install it with \`apt-get install ${packages}\``,
    });
  }
  const output = lines.map(withoutCredentials);
  if (
    output.some((line) =>
      /no space left on device|disk quota exceeded|not enough free space|don't have enough free space/i.test(line),
    )
  ) {
    return failure("DISK_FULL", `Cannot build the environment: ${program} found no space left`, {
      details: { output },
    });
  }
  const reason = firstReason(output) ?? `it ended with ${code === null ? "a signal" : `exit code ${code}`}`;
  return failure("ENVIRONMENT_BUILD_FAILED", `Cannot build the environment: ${program}: ${reason}`, {
    details: { output },
  });
}

/** The first error is the cause; those that follow it only say that something failed. */
function firstReason(lines: readonly string[]): string | undefined {
  const line = lines.find((one) => /^(E|error|fatal|tar|dpkg: error[^:]*):/i.test(one));
  return (line ?? lines.findLast((one) => one.trim() !== ""))?.replace(/^E:\s*/, "").trim();
}

/** SECURITY: the address of a package mirror may hold a password (G-01). */
function withoutCredentials(line: string): string {
  return line.replace(/\/\/[^/@\s]+@/g, "//");
}
