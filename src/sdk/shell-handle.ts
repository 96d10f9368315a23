import type { Shell, ShellClosed, ShellOutput, ShellSignalled, ShellWritten } from "../model/shell.ts";
import type {
  AttachShellOptions,
  CallOptions,
  ReadShellOptions,
  ResizeShellOptions,
  ShellStream,
  SignalShellOptions,
  WriteShellOptions,
} from "./options.ts";
import { openShellStream } from "./shell-stream.ts";
import { toOptions } from "./to-options.ts";
import { SANDBOX_GONE, unlessGone } from "./unless-gone.ts";
import type { WorkspaceCalls } from "./workspace-calls.ts";

/** A terminal that stays open when its clients go. `await using` closes it. */
export class ShellHandle implements AsyncDisposable {
  readonly id: string;
  readonly #calls: WorkspaceCalls;
  #info: Shell;
  /** Where the next read goes on. */
  #cursor = 0;

  /** @internal */
  constructor(calls: WorkspaceCalls, info: Shell) {
    this.id = info.shell_id;
    this.#calls = calls;
    this.#info = info;
  }

  /** As it was last seen: when it was opened, read, resized or closed. */
  get info(): Shell {
    return this.#info;
  }

  /** Types something, and Enter after it. */
  async write(
    input: string | WriteShellOptions,
    options: Omit<WriteShellOptions, "input"> = {},
  ): Promise<ShellWritten> {
    return await this.#calls.ask(
      "writeShell",
      { shell_id: this.id },
      toOptions<WriteShellOptions, "input">("input", input, options),
    );
  }

  /** What came since the last read; with a `cursor`, what came since that byte. */
  async read(options: ReadShellOptions = {}): Promise<ShellOutput> {
    const cursor = options.cursor ?? this.#cursor;
    const output = await this.#calls.ask("readShell", { shell_id: this.id }, { ...options, cursor });
    this.#cursor = output.next_cursor;
    this.#info = { ...this.#info, state: output.state };
    return output;
  }

  /** Waits until nothing has come for this long, or the shell has ended, and reads. */
  async waitForIdle(
    milliseconds: number,
    options: Omit<ReadShellOptions, "wait_for_idle_ms"> = {},
  ): Promise<ShellOutput> {
    return await this.read({ ...options, wait_for_idle_ms: milliseconds });
  }

  /** To what runs in it: `INT` unless told. */
  async signal(signal: SignalShellOptions["signal"] = "INT"): Promise<ShellSignalled> {
    return await this.#calls.connection.call("signalShell", {
      workspace_id: this.#calls.workspaceId,
      shell_id: this.id,
      signal,
    });
  }

  async resize(options: ResizeShellOptions): Promise<Shell> {
    return (this.#info = await this.#calls.ask("resizeShell", { shell_id: this.id }, options));
  }

  /** Byte for byte, both ways. Leaving it does not end the shell. */
  attach(options: AttachShellOptions): ShellStream {
    const { signal, ...input } = options;
    const { connection, workspaceId } = this.#calls;
    return openShellStream(connection, { ...input, workspace_id: workspaceId, shell_id: this.id }, signal);
  }

  async close(options: CallOptions = {}): Promise<ShellClosed> {
    const closed = await this.#calls.ask("closeShell", { shell_id: this.id }, options);
    this.#info = { ...this.#info, state: "closed" };
    return closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await unlessGone([...SANDBOX_GONE, "SHELL_NOT_FOUND"], () => this.close());
  }
}
