import { constants } from "node:os";
import { errnoOf } from "../../base/errors.ts";
import type { Shell } from "../../model/shell.ts";
import type { ShellStream } from "../../sdk/options.ts";
import { TerminalModes } from "./attach-modes.ts";
import { BROKEN_PIPE_EXIT } from "../output/broken-pipe.ts";
import type { Context } from "../command.ts";
import type { HostSignal, InputStream } from "../io.ts";
import { enterRawMode } from "./raw-mode.ts";
import { terminalSize } from "./terminal-size.ts";
import { usageError } from "../arguments/usage-error.ts";
import { writeAll } from "../output/write-all.ts";

/** Ctrl-]: no shell and few programs use it. */
const DETACH_KEY = 0x1d;

/** What can be sat down at. */
export interface TerminalStream<Result> {
  /** Comes after the last output. */
  readonly result: Promise<Result>;
  output(): AsyncIterable<Buffer>;
  write(data: Uint8Array): Promise<void>;
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** Leaves it. */
  endInput(): void;
  close(): Promise<void>;
}

export interface Attachment<Result> {
  /** What it is called in what is told. */
  readonly what: string;
  readonly open: (size: { cols: number; rows: number }) => Promise<TerminalStream<Result>>;
  /** Tells how it ended, and gives the exit code. */
  readonly farewell: (result: Result, detached: boolean) => number;
}

/** A shell at our terminal. */
export async function attachShellHere(
  context: Context,
  words: readonly string[],
  open: (size: { cols: number; rows: number }) => Promise<ShellStream>,
): Promise<number> {
  requireTerminal(context, words, "Use `cloche workspace shell read` and `write`.");
  const farewell = (shell: Shell, detached: boolean) => shellFarewell(context, shell, detached);
  return await attachTerminal(context, { what: "the shell", open, farewell });
}

export function requireTerminal({ io, json }: Context, words: readonly string[], advice: string): void {
  if (json) throw usageError(words, "Cannot attach with --json", advice);
  if (io.stdin.isTTY !== true || io.stdout.isTTY !== true)
    throw usageError(words, "Cannot attach: standard input and output are not a terminal", advice);
}

/** Joins our terminal and another until the key, its end or a signal; then ours is as it was before. */
export async function attachTerminal<Result>(
  context: Context,
  { what, open, farewell }: Attachment<Result>,
): Promise<number> {
  const { io } = context;
  const modes = new TerminalModes();
  const stream = await open(terminalSize(io.stdout));
  let stoppedBy: HostSignal | undefined;
  const stopListening = io.onSignal((signal) => {
    stoppedBy ??= signal;
    void stream.close();
  });
  context.note(`Attaching; Ctrl-] detaches and leaves ${what} running`);
  const restore = enterRawMode(io, stream);
  try {
    const keys = passKeys(io.stdin, stream);
    await showOutput(io.stdout, stream, modes);
    const result = await stream.result;
    await leaveScreen(io.stdout, modes);
    restore();
    return farewell(result, keys.detached());
  } catch (error) {
    if (stoppedBy !== undefined) return 128 + constants.signals[`SIG${stoppedBy}`];
    if (errnoOf(error) === "EPIPE") return BROKEN_PIPE_EXIT;
    throw error;
  } finally {
    // Also after a failure the modes are undone; a terminal that is gone cannot be brought back.
    await leaveScreen(io.stdout, modes).catch(() => undefined);
    restore();
    stopListening();
    await stream.close();
  }
}

/** Goes on by itself until the key, or until there are no keys any more. */
function passKeys(
  input: InputStream,
  stream: Pick<TerminalStream<unknown>, "write" | "endInput">,
): { detached(): boolean } {
  let detached = false;
  const copy = async () => {
    for await (const chunk of input) {
      const keys = chunk as Buffer;
      const at = keys.indexOf(DETACH_KEY);
      await stream.write(at < 0 ? keys : keys.subarray(0, at));
      if (at < 0) continue;
      detached = true;
      return;
    }
  };
  copy()
    // A terminal that cannot be read is one that nobody sits at.
    .catch(() => undefined)
    .finally(() => stream.endInput());
  return { detached: () => detached };
}

async function showOutput(
  output: Context["io"]["stdout"],
  stream: Pick<TerminalStream<unknown>, "output">,
  modes: TerminalModes,
): Promise<void> {
  for await (const data of stream.output()) {
    modes.watch(data);
    await writeAll(output, data);
  }
}

const leaveScreen = (output: Context["io"]["stdout"], modes: TerminalModes): Promise<void> =>
  writeAll(output, modes.undo());

function shellFarewell(context: Context, { shell_id: id, state, exit_code: code }: Shell, detached: boolean): number {
  context.io.stderr.write("\n");
  if (detached || state === "running") {
    context.note(`Detached from ${id}, which runs on`);
    return 0;
  }
  context.note(state === "closed" ? `${id} was closed` : `${id} has ended with exit code ${code ?? 0}`);
  return code ?? 0;
}
