import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import type { ExecResult, JournalEntry } from "../model/exec.ts";
import { AGENT } from "../model/names.ts";
import type { Dependencies } from "./dependencies.ts";
import { blankResult, commandTag, type CommandUnderWay, finishCommand, processLimit } from "./exec-command.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { type OutputSink, RunningCommand } from "./running-command.ts";
import { sandboxEnvironment } from "./sandbox-environment.ts";
import { hasAny } from "./secrets.ts";

export interface AttachRequest {
  readonly sequence: number;
  readonly stdout_offset: number;
  readonly stderr_offset: number;
}

/**
 * How long an adopted command's output stays unread, so that the client it belonged to can come back and read on where it was: the guest
 * keeps what does not fit its ring from being written, and nothing is lost. A daemon that waits for another sandbox answers nobody for three seconds.
 */
const CLIENT_RETURN_MS = 6000;

/** Takes up the commands that were running when the last daemon died: those the guest still knows go on, the others are lost. */
export async function adoptCommands(deps: Dependencies, live: LiveWorkspace): Promise<void> {
  const guest = await live.guest();
  const known = new Map((await guest.processes()).map((one) => [one.tag, one]));
  const entries = deps.store.listRunningCommands().filter((entry) => entry.workspace_id === live.workspaceId);
  deps.journal.retellStarts(live.workspaceId, entries);
  for (const entry of entries) {
    const found = known.get(commandTag(entry.sequence));
    if (!found) {
      deps.journal.end(live.workspaceId, entry.sequence, { state: "lost", exit_code: 125 });
      continue;
    }
    known.delete(found.tag);
    live.adopted.set(entry.sequence, { process: found.process, start: adoption(deps, live, entry, found.process) });
  }
  for (const { process, tag } of known.values()) {
    // Commands whose end is in the journal already.
    if (tag.startsWith("exec:")) await guest.forgetIfThere(process);
    // File work that nobody waits for any more, here neither: it undoes or finishes what it has begun, in its own time.
    if (tag === "") void guest.forgetIfThere(process).catch(() => undefined);
  }
}

/** Starts reading an adopted command, once: when its client is back, or after a while without it. */
function adoption(
  deps: Dependencies,
  live: LiveWorkspace,
  entry: JournalEntry,
  process: number,
): () => Promise<ExecResult> {
  let result: Promise<ExecResult> | undefined;
  const start = () => {
    result ??= (async () => {
      clearTimeout(timer);
      const attached = (await live.guest()).attach(process, { stdout: 0, stderr: 0 });
      const running = new RunningCommand(attached, live.secrets.redactor, live.printed);
      live.commands.set(entry.sequence, running);
      const blank = blankResult(live, entry.command, entry.cwd);
      return await finishCommand(deps, live, { sequence: entry.sequence, blank, running });
    })().finally(() => live.adopted.delete(entry.sequence));
    return result;
  };
  const timer = setTimeout(
    () => void start().catch((error: unknown) => deps.log.warn("lost an adopted command", { error: String(error) })),
    CLIENT_RETURN_MS,
  );
  return start;
}

export interface WaitingCommand {
  readonly argv: readonly string[];
  /** Beside what all commands get. */
  readonly env: Readonly<Record<string, string>>;
  /** Of these, no other command learns. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/**
 * Starts a command that goes on without a client, for as long as it likes, and whose first client misses nothing: it is as one that was adopted, whose client is about
 * to come back.
 */
export async function startWaiting(
  deps: Dependencies,
  live: LiveWorkspace,
  { argv, env, secrets, cwd }: WaitingCommand,
): Promise<number> {
  const guest = await live.guest();
  const { redactor } = live.secrets;
  const command = argv.map((word) => redactor.text(word));
  const blank = blankResult(live, command, redactor.text(cwd));
  const sequence = deps.journal.begin(live.workspaceId, blank);
  try {
    const started = guest.spawn({
      argv,
      env: sandboxEnvironment(live, { ...env, ...secrets }, false),
      hasSecrets: hasAny(secrets),
      cwd,
      user: AGENT,
      keep: true,
      tag: commandTag(sequence),
      rlimits: processLimit(live),
    });
    const { process } = await started.started;
    waitForClient(deps, live, {
      sequence,
      blank,
      process,
      running: new RunningCommand(started, redactor, live.printed),
    });
    return sequence;
  } catch (error) {
    deps.journal.end(live.workspaceId, sequence, { exit_code: 125, state: "lost" });
    throw error;
  }
}

/** Its output stays unread until its first client is there, or for a while without one. */
function waitForClient(
  deps: Dependencies,
  live: LiveWorkspace,
  { process, ...one }: CommandUnderWay & { process: number },
): void {
  const { sequence, running } = one;
  let result: Promise<ExecResult> | undefined;
  const begin = (sink?: OutputSink) => {
    clearTimeout(timer);
    result ??= finishCommand(deps, live, { ...one, sink }).finally(() => live.adopted.delete(sequence));
    return result;
  };
  const timer = setTimeout(
    () => void begin().catch((error: unknown) => deps.log.warn("lost a command", { error: String(error) })),
    CLIENT_RETURN_MS,
  );
  live.commands.set(sequence, running);
  live.adopted.set(sequence, {
    process,
    start: () => begin(),
    first: (sink) => (result === undefined ? begin(sink) : undefined),
  });
}

/** A client that comes back to its command after the daemon's death. */
export async function attachCommand(
  deps: Dependencies,
  live: LiveWorkspace,
  { sequence, stdout_offset: stdout, stderr_offset: stderr }: AttachRequest,
  sink: OutputSink,
  signal: AbortSignal,
): Promise<ExecResult> {
  const adopted = live.adopted.get(sequence);
  if (!adopted) return await replayEnd(deps, live, { sequence, stdout_offset: stdout, stderr_offset: stderr }, sink);
  const first = adopted.first?.(sink);
  if (first) return await orAborted(first, signal);
  // Both readers join before either takes a byte, so neither can make the ring drop what the other has not read.
  const { redactor } = live.secrets;
  // A client counts what it was shown. With secrets that is not what the guest counts, so it is read again, redacted, and what the client has left out.
  const own = (await live.guest()).attach(
    adopted.process,
    redactor.isEmpty ? { stdout, stderr } : { stdout: 0, stderr: 0 },
  );
  const rest = redactor.isEmpty ? sink : skipping(sink, { stdout, stderr });
  const shown = new RunningCommand(own, redactor, live.printed);
  const stopListening = onAbort(signal, () => own.detach());
  try {
    await own.started;
    const result = adopted.start();
    await shown.finish(rest);
    return await result;
  } finally {
    stopListening();
    shown.release();
  }
}

/** It goes on when its client has gone; then nobody waits for its result here. */
async function orAborted(result: Promise<ExecResult>, signal: AbortSignal): Promise<ExecResult> {
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stopListening = onAbort(signal, () => reject(failure("CANCELLED", "The caller has gone")));
  });
  result.catch(() => undefined);
  return await Promise.race([result, aborted]).finally(() => stopListening());
}

/** Leaves out the first bytes of each channel. */
function skipping(sink: OutputSink, counts: { stdout: number; stderr: number }): OutputSink {
  const left = { ...counts };
  const take = (channel: "stdout" | "stderr") => async (data: Buffer) => {
    const skipped = Math.min(left[channel], data.length);
    left[channel] -= skipped;
    if (skipped < data.length) await sink[channel](data.subarray(skipped));
  };
  return { stdout: take("stdout"), stderr: take("stderr") };
}

/** The end of a command from the journal, for a client that comes back when all is over. */
async function replayEnd(
  deps: Dependencies,
  live: LiveWorkspace,
  request: AttachRequest,
  sink: OutputSink,
): Promise<ExecResult> {
  const entry = deps.journal.find(live.workspaceId, request.sequence);
  if (entry?.state !== "done")
    throw failure("COMMAND_NOT_FOUND", `Command ${request.sequence} of workspace ${live.workspaceId} is not running`);
  // What the journal had to leave out is lost for a stream too; the result says so.
  if (!entry.stdout_truncated) await sink.stdout(Buffer.from(entry.stdout).subarray(request.stdout_offset));
  if (!entry.stderr_truncated) await sink.stderr(Buffer.from(entry.stderr).subarray(request.stderr_offset));
  return entry;
}
