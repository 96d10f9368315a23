import type { ByteBudget } from "../base/byte-budget.ts";
import type { GuestExit, GuestProcess } from "../guest/process.ts";
import { failure } from "../model/error-codes.ts";
import type { RedactingStream, Redactor } from "../policy/redactor.ts";
import { CapturedOutput } from "./captured-output.ts";

/** What a caller of a streamed command gets, as it comes; a promise that is awaited before the next chunk is taken. */
export interface OutputSink {
  stdout(data: Buffer): Promise<void>;
  stderr(data: Buffer): Promise<void>;
}

const RECHECK_MS = 5000;
const RESULT_CAP_BYTES = 1024 * 1024;
const JOURNAL_CAP_BYTES = 64 * 1024;

export interface CommandOutput {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
}

/** A command in a sandbox from the daemon's side: reads its output to the end, keeps what fits, hands the rest on. */
export class RunningCommand {
  readonly process: GuestProcess;
  readonly #redactor: Redactor;
  readonly #redacting: { stdout: RedactingStream; stderr: RedactingStream };
  #isGiving = false;
  /** For the caller. */
  readonly result: CommandOutput;
  /** For the journal. */
  readonly journal: CommandOutput;

  /** `budget` is what the commands of one sandbox may keep together. */
  constructor(process: GuestProcess, redactor: Redactor, budget?: ByteBudget) {
    this.process = process;
    this.result = capture(RESULT_CAP_BYTES, budget);
    this.journal = capture(JOURNAL_CAP_BYTES, budget);
    this.#redactor = redactor;
    this.#redacting = { stdout: redactor.stream(), stderr: redactor.stream() };
  }

  /**
   * Resolves when the command has ended and all its output was taken. The guest ends a command when its time is over; one that has not said so after
   * `silenceMs` is not waited for any longer.
   */
  async finish(sink?: OutputSink, silenceMs?: number): Promise<GuestExit> {
    // SECURITY: a guest that does not answer holds nobody up (G-10).
    const stopWatching = silenceMs === undefined ? () => undefined : this.#watch(silenceMs);
    try {
      return await this.#finish(sink);
    } finally {
      stopWatching();
    }
  }

  /** What it has kept is no longer needed. */
  release(): void {
    for (const { stdout, stderr } of [this.result, this.journal]) for (const one of [stdout, stderr]) one.release();
  }

  async #finish(sink: OutputSink | undefined): Promise<GuestExit> {
    for await (const { channel, data } of this.process.output()) await this.#take(channel, data, sink);
    for (const channel of ["stdout", "stderr"] as const)
      await this.#give(channel, this.#redacting[channel].end(), sink);
    const exit = await this.process.exit;
    // Said where a shell would say it.
    if (exit.kind === "failed") {
      const words = this.#redactor.bytes(Buffer.from(`cloche: ${exit.message}\n`));
      await this.#give("stderr", words, sink);
    }
    return exit;
  }

  async #take(channel: "stdout" | "stderr", data: Buffer, sink: OutputSink | undefined): Promise<void> {
    // SECURITY: what a command prints leaves without its secrets (G-17).
    await this.#give(channel, this.#redacting[channel].push(data), sink);
  }

  async #give(channel: "stdout" | "stderr", data: Buffer, sink: OutputSink | undefined): Promise<void> {
    if (data.length === 0) return;
    this.result[channel].add(data);
    this.journal[channel].add(data);
    this.#isGiving = true;
    await sink?.[channel](data);
    this.#isGiving = false;
  }

  #watch(silenceMs: number): () => void {
    let timer = setTimeout(look, silenceMs);
    const { process } = this;
    const isGiving = () => this.#isGiving;
    function look(): void {
      // A slow reader holds the command up, and that is not the guest's fault.
      if (isGiving()) timer = setTimeout(look, RECHECK_MS);
      else process.abandonOutput(failure("SANDBOX_LOST", "The guest program does not answer"));
    }
    return () => clearTimeout(timer);
  }
}

const capture = (capBytes: number, budget: ByteBudget | undefined): CommandOutput => ({
  stdout: new CapturedOutput(capBytes, budget),
  stderr: new CapturedOutput(capBytes, budget),
});
