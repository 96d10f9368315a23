import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Shell } from "../model/shell.ts";
import { AttachedStream } from "./attached-stream.ts";
import type { DaemonConnection } from "./connection.ts";
import type { ShellStream } from "./options.ts";

export function openShellStream(
  connection: DaemonConnection,
  input: OperationInput<"attachShell">,
  signal: AbortSignal | undefined,
): ShellStream {
  return new AttachedShell(connection, input, signal);
}

/** A terminal's end of a shell. */
class AttachedShell extends AttachedStream<"attachShell"> implements ShellStream {
  constructor(connection: DaemonConnection, input: OperationInput<"attachShell">, signal: AbortSignal | undefined) {
    super(
      connection,
      {
        operation: "attachShell",
        // What came was redacted, so its length tells no place in the output: the next daemon begins with the last screenful.
        again: (asked) => ({ ...asked, cursor: undefined }),
        gaveUp: ({ workspace_id, shell_id }) =>
          failure("DAEMON_UNREACHABLE", "The daemon ended while the shell was attached", {
            hint: [way`Attach to it again with ${call("attachShell", { workspace_id, shell_id })}`],
          }),
      },
      input,
      signal,
    );
  }

  async *output(): AsyncGenerator<Buffer, void> {
    for await (const { data } of this.live.queue.read()) yield data;
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    this.input = { ...this.input, ...size };
    const { workspace_id, shell_id } = this.input;
    await this.connection.call("resizeShell", { workspace_id, shell_id, ...size });
  }

  async detach(): Promise<Shell> {
    this.endInput();
    // The last output is not worth waiting for a reader.
    this.live.queue.drop();
    return await this.result;
  }
}
