import { constants } from "node:os";
import { basename } from "node:path";
import { errnoOf, isClocheError } from "../../base/errors.ts";
import type { ExecResult } from "../../model/exec.ts";
import type { CommandSignal, CommandStream, OutputChunk } from "../../sdk/options.ts";
import { TerminalModes } from "./attach-modes.ts";
import { BROKEN_PIPE_EXIT } from "../output/broken-pipe.ts";
import type { Context } from "../command.ts";
import { escapeOutput } from "../output/escape.ts";
import { feedInput } from "./feed-input.ts";
import { forwardSignals } from "./forward-signals.ts";
import { enterRawMode } from "./raw-mode.ts";
import { terminalSize } from "./terminal-size.ts";
import type { Variable } from "../arguments/option-values.ts";
import { usageError } from "../arguments/usage-error.ts";
import { writeAll } from "../output/write-all.ts";

export interface SessionRequest {
  readonly stdin: boolean;
  readonly pty: { cols: number; rows: number } | undefined;
  readonly env: Record<string, string>;
  readonly timeout_seconds: number | undefined;
  /** Aborted by a signal that comes before the command has started. */
  readonly signal: AbortSignal;
}

export interface SessionOptions {
  readonly words: readonly string[];
  readonly tty: boolean;
  /** Standard input is passed on, whatever it is. */
  readonly interactive: boolean;
  readonly env: readonly Variable[];
  readonly timeoutSeconds: number | undefined;
  open(request: SessionRequest): Promise<CommandStream>;
}

const SIGNAL_NUMBERS = constants.signals;
/** A command that a person sits at is not ended by the default of seconds. */
const TERMINAL_TIMEOUT_SECONDS = 86_400;
/** How long a command may take to end after its reader has gone. */
const BROKEN_PIPE_GRACE_MS = 1000;

/**
 * One command, as if it ran here: its bytes come out as they come, ours go in, signals are passed on, and its exit code is ours.
 * Resolves when the command has ended, also while our standard input stays open.
 */
export async function runSession(context: Context, options: SessionOptions): Promise<number> {
  const { io } = context;
  const size = options.tty ? askedSize(context, options.words) : undefined;
  const early = new AbortController();
  let stream: CommandStream | undefined;
  let stoppedBy: CommandSignal | undefined;
  const modes = new TerminalModes();
  const signals = forwardSignals(io, async (name) => {
    if (stream) {
      await stream.signal(name);
      return;
    }
    stoppedBy ??= name;
    early.abort();
  });
  try {
    const request = {
      stdin: options.tty || options.interactive || io.hasPipedInput(),
      pty: size,
      env: { ...(size && io.env["TERM"] && { TERM: io.env["TERM"] }), ...variablesOf(io, options) },
      timeout_seconds: options.timeoutSeconds ?? (options.tty ? TERMINAL_TIMEOUT_SECONDS : undefined),
      signal: early.signal,
    };
    stream = await options.open(request);
    context.endProgress();
    const restore = options.tty ? enterRawMode(io, stream) : () => undefined;
    try {
      if (request.stdin) feedInput(io.stdin, stream);
      const code = await Promise.race([finish(context, stream, modes, options.timeoutSeconds), signals.abandoned]);
      if (!request.stdin && context.onTerminal && isInteractive(context.command))
        context.note(`note: ${context.command.join(" ")} had nothing to read; --tty gives it your terminal`);
      return code;
    } finally {
      await leaveTerminal(context, modes);
      restore();
    }
  } catch (error) {
    // Stopped before there was a command: as if the signal had ended us.
    if (stoppedBy !== undefined && isClocheError(error) && error.code === "CANCELLED") {
      if (io.stderr.isTTY) context.note("cancelled");
      return 128 + SIGNAL_NUMBERS[`SIG${stoppedBy}`];
    }
    throw error;
  } finally {
    signals.stop();
  }
}

/** Those without a value are as they are here. */
export function variablesOf(
  io: Context["io"],
  { env, words }: Pick<SessionOptions, "env" | "words">,
): Record<string, string> {
  const pairs = env.map(({ name, value = io.env[name] }): [string, string] => {
    if (value !== undefined) return [name, value];
    throw usageError(
      words,
      `--env ${name} has no value: there is no such variable here`,
      `Write \`--env ${name}=VALUE\`.`,
    );
  });
  return Object.fromEntries(pairs);
}

const INTERACTIVE = new Set(["sh", "bash", "dash", "zsh", "fish", "python", "python3", "node"]);

/** A program that reads what it is to do, called by its name alone. Without input it ends at once and in silence. */
const isInteractive = ([program = "", ...args]: readonly string[]): boolean =>
  args.length === 0 && INTERACTIVE.has(basename(program));

async function finish(
  context: Context,
  stream: CommandStream,
  modes: TerminalModes,
  timeoutSeconds: number | undefined,
): Promise<number> {
  try {
    const streamed = await copyOutput(context, stream, modes);
    await leaveTerminal(context, modes);
    const result = await stream.result;
    if (context.json) await context.print(result, () => "");
    // Why a command could not be started is in its result alone: there was no process to print it.
    else if (!streamed.has("stderr")) await writeAll(context.io.stderr, escapeOutput(result.stderr));
    if (result.timed_out)
      context.note(
        `note: the command was ended after ${secondsText(result, timeoutSeconds)} s; --timeout-seconds gives it longer`,
      );
    if (result.hint !== undefined && !context.json) context.note(`hint: ${result.hint}`);
    return result.exit_code;
  } catch (error) {
    if (errnoOf(error) !== "EPIPE") throw error;
    await endQuietly(stream);
    return BROKEN_PIPE_EXIT;
  }
}

const secondsText = (result: ExecResult, timeoutSeconds: number | undefined): string =>
  String(timeoutSeconds ?? Math.round(result.duration_ms / 1000));

/** Resolves at the end of the output, to the channels that had some. */
async function copyOutput(
  { io, json }: Context,
  stream: CommandStream,
  modes: TerminalModes,
): Promise<Set<OutputChunk["channel"]>> {
  const seen = new Set<OutputChunk["channel"]>();
  for await (const { channel, data } of stream.output()) {
    seen.add(channel);
    // The document carries the output; reading on keeps the command from waiting for us.
    if (json) continue;
    const output = channel === "stdout" ? io.stdout : io.stderr;
    if (output.isTTY === true) modes.watch(data);
    await writeAll(output, data);
  }
  return seen;
}

/**
 * SECURITY: a command has the terminal while it prints, and no longer: colours, modes and alphabets that it left are put back before anything else
 * is shown (G-27).
 */
async function leaveTerminal({ io }: Context, modes: TerminalModes): Promise<void> {
  if (!modes.driven) return;
  // A terminal that is gone cannot be brought back.
  await writeAll(io.stdout.isTTY === true ? io.stdout : io.stderr, modes.undo()).catch(() => undefined);
}

/** The reader has gone: the command would have got SIGPIPE here, so it is told to end, and then made to. */
async function endQuietly(stream: CommandStream): Promise<void> {
  const timer = setTimeout(() => {
    stream.signal("KILL").catch(() => undefined);
  }, BROKEN_PIPE_GRACE_MS);
  try {
    await stream.signal("TERM");
    await stream.result;
  } catch {
    // It has ended already, or its sandbox has; either way nobody reads the answer.
  } finally {
    clearTimeout(timer);
  }
}

function askedSize({ io, json }: Context, words: readonly string[]): { cols: number; rows: number } {
  if (json) throw usageError(words, "Cannot use --tty with --json", "Leave --tty out.");
  if (io.stdin.isTTY !== true || io.stdout.isTTY !== true) {
    throw usageError(words, "Cannot use --tty: standard input and output are not a terminal", "Leave --tty out.");
  }
  return terminalSize(io.stdout);
}
