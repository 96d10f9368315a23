import type { IncomingMessage } from "node:http";
import { isClocheError } from "../base/errors.ts";
import type { ErrorDocument } from "../model/error-codes.ts";
import { decodeStreamFrames, FRAME } from "../model/stream-frames.ts";
import { toClocheError } from "./answer.ts";
import type { OutputChunk } from "./options.ts";

export interface StreamFollower {
  started(info: unknown): void;
  /** Reading waits for it. */
  output(chunk: OutputChunk): Promise<void>;
}

/** Reads one streamed answer to its end and gives its result; undefined when the daemon went away before there was one. */
export async function followStream(response: IncomingMessage, follower: StreamFollower): Promise<unknown> {
  try {
    for await (const { type, payload } of decodeStreamFrames(response)) {
      if (type === FRAME.stdout) await follower.output({ channel: "stdout", data: payload });
      else if (type === FRAME.stderr) await follower.output({ channel: "stderr", data: payload });
      else {
        const value = JSON.parse(payload.toString("utf8")) as unknown;
        if (type === FRAME.exit) return value;
        if (type === FRAME.error) throw toClocheError(value as ErrorDocument);
        follower.started(value);
      }
    }
  } catch (error) {
    if (isClocheError(error)) throw error;
  }
  return undefined;
}
