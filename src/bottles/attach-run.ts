import { isClocheError } from "../base/errors.ts";
import type { OperationInput } from "../model/operations.ts";
import { attachCommand } from "../workspaces/adopt-commands.ts";
import type { AttachContext } from "../workspaces/shells/attach-shell.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunParts } from "./run-parts.ts";

/** Where in its output whoever attaches begins. */
export type AttachPlace = Omit<OperationInput<"attachRun">, "identity">;

/** Both ways at a terminal, else its output. Tells whether its agent has ended; else the client has left. */
export async function attachSession(
  { deps, shells }: RunParts,
  run: ActiveRun,
  from: AttachPlace,
  { signal, stdin, sink }: AttachContext,
): Promise<boolean> {
  const { live, session } = run;
  try {
    return await run.watched(async () => {
      if (session.kind === "shell") {
        const { cols, rows } = from.terminal ?? { cols: 80, rows: 24 };
        const { shell_id } = session;
        const wanted = { workspace_id: live.workspaceId, shell_id, cols, rows, cursor: from.cursor };
        return (await shells.attach(live, wanted, { signal, stdin, sink })).state !== "running";
      }
      const { stdout_offset = 0, stderr_offset = 0 } = from;
      await attachCommand(deps, live, { sequence: session.sequence, stdout_offset, stderr_offset }, sink, signal);
      return true;
    });
  } catch (error) {
    // What took the sandbox away has its own words; the run ends or moves with it.
    if (signal.aborted || !isClocheError(error) || live.isCurrent) throw error;
    return true;
  }
}

/** What a client types, for one reader after the other: what one was waiting for when its sandbox went is the next one's. */
export class SharedInput {
  readonly #source: AsyncIterator<Buffer>;
  readonly #heard: (data: Buffer) => void;
  #next: Promise<IteratorResult<Buffer>> | undefined;

  constructor(stdin: AsyncIterable<Buffer> | undefined, heard: (data: Buffer) => void) {
    this.#heard = heard;
    this.#source = (stdin ?? nothing())[Symbol.asyncIterator]();
  }

  /** Its end does not end the source. */
  read(): AsyncIterable<Buffer> {
    const next = () => (this.#next ??= this.#take().finally(() => (this.#next = undefined)));
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  async #take(): Promise<IteratorResult<Buffer>> {
    const taken = await this.#source.next();
    if (taken.done !== true) this.#heard(taken.value);
    return taken;
  }
}

async function* nothing(): AsyncGenerator<Buffer> {
  // Whoever has nothing to type just watches.
}
