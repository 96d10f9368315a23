import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import { AttachedStream } from "./attached-stream.ts";
import type { DaemonConnection } from "./connection.ts";
import type { OutputChunk, RunAttachment, RunSignal } from "./options.ts";

export function openAttachment(
  connection: DaemonConnection,
  input: OperationInput<"attachRun">,
  signal: AbortSignal | undefined,
): RunAttachment {
  return new AttachedRun(connection, input, signal);
}

/** A client's end of a run: the agent does not notice when a daemon dies. */
class AttachedRun extends AttachedStream<"attachRun"> implements RunAttachment {
  constructor(connection: DaemonConnection, input: OperationInput<"attachRun">, signal: AbortSignal | undefined) {
    super(
      connection,
      {
        operation: "attachRun",
        // At a terminal the next daemon begins with the last screenful; output apart goes on where it was.
        again: (asked, { stdout, stderr }) => ({
          ...asked,
          cursor: undefined,
          stdout_offset: stdout,
          stderr_offset: stderr,
        }),
        gaveUp: ({ identity }) =>
          failure("DAEMON_UNREACHABLE", "The daemon ended while the run was attached", {
            hint: `Attach to it again with \`cloche attach ${identity}\``,
          }),
      },
      input,
      signal,
    );
  }

  output(): AsyncIterable<OutputChunk> {
    return this.live.queue.read();
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    this.input = { ...this.input, terminal: size };
    await this.connection.call("resizeRun", { identity: this.input.identity, ...size });
  }

  async signal(name: RunSignal): Promise<void> {
    await this.connection.call("signalRun", { identity: this.input.identity, signal: name });
  }
}
