import { failure } from "../model/error-codes.ts";
import { spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { onAbort } from "../base/on-abort.ts";

export interface BuildCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly stdin?: number | undefined;
  /** Descriptor that gets the standard output; nothing is kept of it otherwise. */
  readonly stdout?: number | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
  /** Standard output is read by line like the other one. Gives what a step of the build has printed, of a line that has that; a failure shows the last of it. */
  readonly stepOutput?: ((line: string, from: "stdout" | "stderr") => string | undefined) | undefined;
  /** What is built, for the hint of a failure. */
  readonly environment?: string | undefined;
  /** What a step may have failed for. */
  readonly suspicion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Debian packages that have the command. */
  readonly packages: string;
}

const KEPT_LINES = 50;
const SHOWN_LINES = 5;
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
  command.signal?.throwIfAborted();
  const stdout = command.stdout ?? (command.stepOutput ? "pipe" : "ignore");
  const stdio: StdioOptions = [command.stdin ?? "ignore", stdout, "pipe", "pipe"];
  const child = spawn("sh", ["-c", WATCHED, "sh", ...command.argv], { stdio, env: command.env, detached: true });
  const said: Said = { lines: [], complaints: [], fromSteps: [] };
  const alive = child.stdio[3];
  alive?.on("error", () => undefined); // it has ended by itself
  for (const from of ["stdout", "stderr"] as const) {
    const input = child[from];
    if (!input) continue;
    createInterface({ input, crlfDelay: Infinity }).on("line", (raw) => {
      const line = withoutCredentials(stripVTControlCharacters(raw));
      keep(said.lines, line);
      if (from === "stderr") keep(said.complaints, line);
      const printed = command.stepOutput?.(line, from);
      if (printed !== undefined && printed.trim() !== "") keep(said.fromSteps, printed);
      command.onLine?.(line);
    });
  }
  let killing: NodeJS.Timeout | undefined;
  const stopListening = onAbort(command.signal, () => {
    killGroup(child.pid, "SIGTERM");
    killing = setTimeout(() => killGroup(child.pid, "SIGKILL"), GRACE_MS);
  });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    command.signal?.throwIfAborted();
    if (code === 0) return;
    throw commandFailure(command, code, said);
  } finally {
    stopListening();
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

/** The last lines that a command has printed. */
interface Said {
  readonly lines: string[];
  /** On standard error. */
  readonly complaints: string[];
  /** By the steps of the build. */
  readonly fromSteps: string[];
}

function keep(lines: string[], line: string): void {
  lines.push(line);
  if (lines.length > KEPT_LINES) lines.shift();
}

function commandFailure(command: BuildCommand, code: number | null, said: Said) {
  const {
    argv: [program],
    packages,
    environment,
    suspicion = "",
  } = command;
  if (code === 127) {
    return failure("ENVIRONMENT_BUILD_FAILED", `Cannot build the environment: ${program} is not installed`, {
      hint: `Install it with \`apt-get install ${packages}\``,
    });
  }
  const details = { output: said.lines };
  if (
    said.lines.some((line) =>
      /no space left on device|disk quota exceeded|not enough free space|don't have enough free space/i.test(line),
    )
  )
    return failure("DISK_FULL", `Cannot build the environment: ${program} found no space left`, { details });
  const reason = firstReason(said.complaints) ?? `it ended with ${code === null ? "a signal" : `exit code ${code}`}`;
  const last = said.fromSteps.slice(-SHOWN_LINES);
  const shown = last.length > 0 ? `; its last output:\n${last.join("\n")}` : "";
  return failure("ENVIRONMENT_BUILD_FAILED", `Cannot build the environment: ${program}: ${reason}${shown}`, {
    ...(environment !== undefined && {
      hint: `${suspicion}See more of its output with \`cloche env pull ${environment} --json\``,
    }),
    details,
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
