import type { GuestExit, GuestProcess } from "../guest/process.ts";
import { CapturedOutput } from "./captured-output.ts";

/** What a caller of a streamed command gets, as it comes; a promise that is awaited before the next chunk is taken. */
export interface OutputSink {
  stdout(data: Buffer): Promise<void>;
  stderr(data: Buffer): Promise<void>;
}

const RESULT_CAP_BYTES = 1024 * 1024;
const JOURNAL_CAP_BYTES = 64 * 1024;

export interface CommandOutput {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
}

/** A command in a sandbox from the daemon's side: reads its output to the end, keeps what fits, hands the rest on. */
export class RunningCommand {
  readonly process: GuestProcess;
  /** For the caller. */
  readonly result: CommandOutput = capture(RESULT_CAP_BYTES);
  /** For the journal. */
  readonly journal: CommandOutput = capture(JOURNAL_CAP_BYTES);

  constructor(process: GuestProcess) {
    this.process = process;
  }

  /** Resolves when the command has ended and all its output was taken. */
  async finish(sink?: OutputSink): Promise<GuestExit> {
    for await (const { channel, data } of this.process.output()) await this.#take(channel, data, sink);
    const exit = await this.process.exit;
    // Said where a shell would say it.
    if (exit.kind === "failed") await this.#take("stderr", Buffer.from(`cloche: ${exit.message}\n`), sink);
    return exit;
  }

  async #take(channel: "stdout" | "stderr", data: Buffer, sink: OutputSink | undefined): Promise<void> {
    this.result[channel].add(data);
    this.journal[channel].add(data);
    await sink?.[channel](data);
  }
}

const capture = (capBytes: number): CommandOutput => ({
  stdout: new CapturedOutput(capBytes),
  stderr: new CapturedOutput(capBytes),
});
