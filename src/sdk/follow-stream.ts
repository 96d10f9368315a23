import type { IncomingMessage } from "node:http";
import { isClocheError } from "../base/errors.ts";
import type { WireError } from "../model/error-codes.ts";
import type {
  CommandName,
  EventsName,
  OperationEvent,
  OperationResult,
  OperationStart,
  StreamName,
} from "../model/operations.ts";
import { decodeStreamFrames, FRAME } from "../model/stream-frames.ts";
import { toClocheError } from "./answer.ts";
import type { OutputChunk } from "./options.ts";

/** A streamed answer of that operation, of which nothing has been read. */
export interface OpenedStream<Name extends StreamName> {
  readonly operation: Name;
  readonly response: IncomingMessage;
}

/** Reading waits for what is promised. */
interface CommandFollower<Name extends CommandName> {
  started(info: OperationStart<Name>): void;
  output(chunk: OutputChunk): Promise<void>;
}

interface EventsFollower<Name extends EventsName> {
  event(event: OperationEvent<Name>): Promise<void>;
}

/** What hears the frames, by the kind of the operation. */
export type StreamFollower<Name extends StreamName> = Name extends CommandName
  ? CommandFollower<Name>
  : Name extends EventsName
    ? EventsFollower<Name>
    : never;

type AnyFollower = Partial<CommandFollower<CommandName> & { event(event: unknown): Promise<void> }>;

/** Reads one streamed answer to its end and gives its result; undefined when the daemon went away before there was one. */
export async function followStream<Name extends StreamName>(
  { response }: OpenedStream<Name>,
  follower: StreamFollower<Name>,
): Promise<OperationResult<Name> | undefined> {
  // A daemon of the same version sends the frames of the operation's kind, and no others.
  const heard = follower as AnyFollower;
  try {
    for await (const { type, payload } of decodeStreamFrames(response)) {
      if (type === FRAME.stdout) await heard.output?.({ channel: "stdout", data: payload });
      else if (type === FRAME.stderr) await heard.output?.({ channel: "stderr", data: payload });
      else {
        const value = JSON.parse(payload.toString("utf8")) as unknown;
        if (type === FRAME.exit) return value as OperationResult<Name>;
        if (type === FRAME.error) throw toClocheError(value as WireError);
        if (type === FRAME.event) await heard.event?.(value);
        else heard.started?.(value as OperationStart<CommandName>);
      }
    }
  } catch (error) {
    if (isClocheError(error)) throw error;
  }
  return undefined;
}
