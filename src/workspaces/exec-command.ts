import { constants } from "node:os";
import { isClocheError, messageOf } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import type { GuestExit, GuestProcess } from "../guest/process.ts";
import type { Rlimit } from "../guest/spawn-frame.ts";
import { DEFAULTS } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { Command, ExecResult, JournalEntry } from "../model/exec.ts";
import { AGENT, WORKSPACE_ROOT } from "../model/names.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../policy/workspace-path.ts";
import { toArgv } from "../model/command-environment.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { networkHint } from "./network-hint.ts";
import { type CommandOutput, type OutputSink, RunningCommand } from "./running-command.ts";
import { promptOf } from "./prompt.ts";
import { sandboxEnvironment } from "./sandbox-environment.ts";
import { hasAny } from "./secrets.ts";

export interface ExecRequest {
  readonly command: Command;
  readonly timeout_seconds?: number | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly secret_env?: Readonly<Record<string, string>> | undefined;
  readonly pty?: { cols: number; rows: number } | undefined;
}

export interface ExecContext {
  readonly signal?: AbortSignal | undefined;
  readonly stdin?: AsyncIterable<Buffer> | undefined;
  readonly sink?: OutputSink | undefined;
  /** Called once the command has its place in the journal. */
  readonly onSequence?: ((sequence: number) => void) | undefined;
}

/** A command of its own: nobody waits for it, so it has the longest time that a command can have. */
const DETACHED_TIMEOUT_SECONDS = 86_400;
/** A caller that waits has one place among the calls of a workspace; these have none. */
const MAX_COMMANDS = 256;

/**
 * Starts a command that goes on without its caller. The journal has it from its start on, and its output when it has ended; the daemon follows it, and the next
 * daemon after that, until then.
 */
export async function startDetached(deps: Dependencies, live: LiveWorkspace, request: ExecRequest): Promise<number> {
  // SECURITY: what the daemon follows of one workspace is bounded, also without a caller (G-25)
  if (live.commands.size >= MAX_COMMANDS)
    throw failure("WORKSPACE_BUSY", `${live.commands.size} commands run in workspace ${live.workspaceId} already`, {
      hint: [
        way`Wait for one to end`,
        way`end one of those that ${call("logsWorkspace", { workspace_id: null })} shows`,
      ],
    });
  const timeout_seconds = request.timeout_seconds ?? DETACHED_TIMEOUT_SECONDS;
  return await new Promise<number>((onSequence, fail) => {
    execCommand(deps, live, { ...request, timeout_seconds }, { onSequence }).catch((error: unknown) => {
      fail(error instanceof Error ? error : new Error(messageOf(error))); // of no effect once it has begun
      const { workspaceId } = live;
      deps.log.debug("a command that nobody waits for was lost", { workspaceId, error: String(error) });
    });
  });
}

/** Between TERM and KILL at a time-out. */
const GRACE_MS = 1000;
/** How much later than it should a guest may tell the end of a command. */
const GUEST_PATIENCE_MS = 20_000;
/** `timeout(1)`'s code, for a command that ended in good order when its time was over. */
const EXIT_TIMED_OUT = 124;

/** Of each stream in a result, as it is emitted: a control character has six. */
const MAX_JSON_BYTES = 2 * 1024 * 1024;

export const commandTag = (sequence: number): string => `exec:${sequence}`;

/** Runs one command and writes it into the journal: as running before it starts, as done when it has ended. */
export async function execCommand(
  deps: Dependencies,
  live: LiveWorkspace,
  request: ExecRequest,
  context: ExecContext,
): Promise<ExecResult> {
  const cwd = request.cwd === undefined ? WORKSPACE_ROOT : toWorkspaceAbsolute(toWorkspaceRelative(request.cwd));
  const secretVariables = live.secrets.environment(request.secret_env);
  const guest = await live.guest();
  context.signal?.throwIfAborted();
  const timeoutMs = Math.ceil((request.timeout_seconds ?? DEFAULTS.exec_timeout_seconds) * 1000);
  const blank = blankResult(live, request.command, live.secrets.redactor.text(cwd));
  const sequence = deps.journal.begin(live.workspaceId, {
    ...blank,
    command: redactCommand(live, request.command),
  });
  context.onSequence?.(sequence);
  const running = startCommand(deps, live, sequence, () =>
    guest.spawn({
      argv: toArgv(request.command),
      env: {
        ...sandboxEnvironment(
          live,
          { ...(request.pty && promptOf(deps.store, live.workspaceId)), ...request.env },
          request.pty !== undefined,
        ),
        ...secretVariables,
      },
      hasSecrets: hasAny(secretVariables),
      cwd,
      user: AGENT,
      // Kept until the journal has it, so that a daemon that dies meanwhile loses nothing.
      keep: true,
      tag: commandTag(sequence),
      stdin: context.stdin !== undefined || request.pty !== undefined,
      ...(request.pty && { pty: request.pty }),
      timeoutMs,
      graceMs: GRACE_MS,
      rlimits: processLimit(live),
    }),
  );
  const stopListening = onAbort(context.signal, () => running.process.signal(constants.signals.SIGKILL, "tree"));
  if (context.stdin) void feedInput(running, context.stdin);
  try {
    const silenceMs = timeoutMs + GRACE_MS + GUEST_PATIENCE_MS;
    return await finishCommand(deps, live, { sequence, blank, running, sink: context.sink, silenceMs });
  } finally {
    stopListening();
    context.signal?.throwIfAborted();
  }
}

/** Spawns the command. When the request itself fails, its journal entry is ended all the same. */
function startCommand(
  deps: Dependencies,
  live: LiveWorkspace,
  sequence: number,
  spawn: () => GuestProcess,
): RunningCommand {
  try {
    const running = new RunningCommand(spawn(), live.secrets.redactor, live.printed);
    live.commands.set(sequence, running);
    return running;
  } catch (error) {
    deps.journal.end(live.workspaceId, sequence, { exit_code: 125, state: "lost" });
    throw error;
  }
}

function redactCommand(live: LiveWorkspace, command: Command): Command {
  const { redactor } = live.secrets;
  return typeof command === "string" ? redactor.text(command) : command.map((word) => redactor.text(word));
}

export interface CommandUnderWay {
  readonly sequence: number;
  readonly blank: Omit<ExecResult, "sequence">;
  readonly running: RunningCommand;
  readonly sink?: OutputSink | undefined;
  /** After which a guest that has said nothing is given up. */
  readonly silenceMs?: number | undefined;
}

/** Waits for the end of a command, new or adopted, and completes its journal entry. */
export async function finishCommand(
  deps: Dependencies,
  live: LiveWorkspace,
  one: CommandUnderWay,
): Promise<ExecResult> {
  const { sequence, blank, running } = one;
  const { workspaceId } = live;
  try {
    const exit = await running.finish(one.sink, one.silenceMs);
    const ended = { ...blank, sequence, ...outcome(exit, running.result) };
    const result = { ...ended, ...networkHint(live, ended) };
    const { process } = await running.process.started;
    // Nobody waits for this; if it is lost, the next daemon does it.
    const forget = () =>
      void live
        .guest()
        .then((guest) => guest.forget(process))
        .catch(() => undefined);
    deps.journal.end(workspaceId, sequence, { ...outcome(exit, running.journal), state: "done" }, forget);
    return result;
  } catch (error) {
    // A sandbox that was reset or deleted has left its journal behind.
    if (!live.isCurrent) throw live.lost();
    deps.journal.end(workspaceId, sequence, { ...outputFields(running.journal), exit_code: 125, state: "lost" });
    if (isClocheError(error)) throw error;
    throw failure("SANDBOX_LOST", `Lost the command in workspace ${workspaceId}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    live.commands.delete(sequence);
    running.release();
  }
}

export function blankResult(live: LiveWorkspace, command: Command, cwd: string): Omit<ExecResult, "sequence"> {
  return {
    workspace_id: live.workspaceId,
    command,
    cwd,
    exit_code: 0,
    stdout: "",
    stderr: "",
    stdout_truncated: false,
    stderr_truncated: false,
    timed_out: false,
    duration_ms: 0,
    execution_mode: live.executionMode,
  };
}

const RLIMIT_NPROC = 6;

/** SECURITY: the number of processes is bounded also where no cgroup bounds it (G-15). */
export const processLimit = ({ limits: { pids } }: Pick<LiveWorkspace, "limits">): Rlimit[] => [
  { resource: RLIMIT_NPROC, soft: pids, hard: pids },
];

async function feedInput(running: RunningCommand, stdin: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const chunk of stdin) await running.process.write(chunk);
  } catch {
    // The client went away: its command sees the end of its input, and the abort signal does the rest.
  }
  running.process.endInput();
}

type Outcome = Pick<
  ExecResult,
  "exit_code" | "timed_out" | "duration_ms" | "stdout" | "stderr" | "stdout_truncated" | "stderr_truncated"
>;

function outcome(exit: GuestExit, output: CommandOutput): Outcome {
  return {
    ...outputFields(output),
    exit_code: exitCodeOf(exit),
    timed_out: exit.timedOut,
    duration_ms: Math.round(exit.durationUs / 10) / 100,
  };
}

/** The entry of a command that still runs, with what it has printed so far. */
export function entrySoFar(entry: JournalEntry, running: RunningCommand | undefined, now: number): JournalEntry {
  if (!running || entry.state !== "running") return entry;
  const duration_ms = Math.max(0, Math.round((now - entry.started_at) * 1000));
  return { ...entry, ...outputFields(running.journal), duration_ms };
}

function outputFields({
  stdout,
  stderr,
}: CommandOutput): Pick<Outcome, "stdout" | "stderr" | "stdout_truncated" | "stderr_truncated"> {
  const [out, err] = [stdout.text(MAX_JSON_BYTES), stderr.text(MAX_JSON_BYTES)];
  return { stdout: out.text, stderr: err.text, stdout_truncated: out.truncated, stderr_truncated: err.truncated };
}

/** As a shell has it: 127 not found, 126 found and not to be run, 128+n for a signal. */
export function exitCodeOf(exit: GuestExit): number {
  if (exit.kind === "signalled") return 128 + exit.code;
  if (exit.kind === "failed") return exit.code === constants.errno.ENOENT ? 127 : 126;
  return exit.timedOut && exit.code === 0 ? EXIT_TIMED_OUT : exit.code;
}
