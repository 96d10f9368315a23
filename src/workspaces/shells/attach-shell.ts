import { onAbort } from "../../base/on-abort.ts";
import { failure } from "../../model/error-codes.ts";
import type { Redactor } from "../../policy/redactor.ts";
import type { OutputSink } from "../running-command.ts";
import { joinShell, type FoundShell } from "./find-shell.ts";
import { LiveRedaction } from "./live-redaction.ts";
import { readRing, type RingBytes } from "./read-ring.ts";

export interface AttachContext {
  readonly signal: AbortSignal;
  /** What is typed; its end detaches. */
  readonly stdin: AsyncIterable<Buffer>;
  readonly sink: OutputSink;
}

/** More is never sent again to show what the screen had. */
const MAX_SCREEN_BYTES = 65_536;

/** Both ways until the client has gone or the shell has ended. Starts with the last screenful, or at `cursor`. */
export async function attachShell(
  found: FoundShell,
  redactor: Redactor,
  { cols, rows, cursor }: { cols: number; rows: number; cursor?: number | undefined },
  { signal, stdin, sink }: AttachContext,
): Promise<void> {
  const { end } = found.info.stdout;
  if (cursor !== undefined && cursor > end) {
    throw failure("INVALID_ARGUMENT", `Cursor ${cursor} is after the end of the output, ${end}`);
  }
  const ring = await readRing(found, Math.max(0, (cursor ?? end - MAX_SCREEN_BYTES) - redactor.reach), signal);
  const from = cursor === undefined ? screenStart(ring.bytes, rows) : Math.max(0, cursor - ring.start);
  const redaction = new LiveRedaction(redactor, ring.start > 0);
  redaction.push(ring.bytes.subarray(0, from));
  await sink.stdout(redaction.push(ring.bytes.subarray(from)));

  const process = joinShell(found, ringEnd(ring));
  const leave = () => process.detach();
  const stopListening = onAbort(signal, leave);
  process.resize(cols, rows);
  const typing = async () => {
    for await (const chunk of stdin) await process.write(chunk);
  };
  // A client that breaks off has detached as well as one that says so.
  void typing()
    .catch(() => undefined)
    .finally(leave);
  try {
    for await (const { data } of process.output()) {
      const shown = redaction.push(data);
      if (shown.length > 0) await sink.stdout(shown);
    }
    const rest = redaction.end();
    if (rest.length > 0 && !signal.aborted) await sink.stdout(rest);
  } finally {
    stopListening();
    leave();
  }
  signal.throwIfAborted();
}

const ringEnd = ({ start, bytes }: RingBytes): number => start + bytes.length;

/** Where the last `rows` lines begin. */
function screenStart(bytes: Buffer, rows: number): number {
  const earliest = Math.max(0, bytes.length - MAX_SCREEN_BYTES);
  let at = bytes.length;
  for (let line = 0; line < rows; line++) {
    const before = at > 0 ? bytes.lastIndexOf(0x0a, at - 1) : -1;
    // The line began further back than is shown: then its end has to do.
    if (before < earliest) return earliest;
    at = before;
  }
  return at + 1;
}
