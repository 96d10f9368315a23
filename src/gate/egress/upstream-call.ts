import type { Readable, Writable } from "node:stream";
import type { HeaderList } from "./header-list.ts";

/** A request as it leaves the gate. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Without those that are about one connection. */
  readonly headers: HeaderList;
  readonly hasBody: boolean;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: HeaderList;
  readonly body: Readable;
  /** Once the body has ended. Throws when that was not in good order. */
  readonly trailers: () => HeaderList;
}

/** One write of the system for several chunks. */
export function writeTogether(
  stream: Pick<Writable, "write" | "cork" | "uncork">,
  chunks: readonly Uint8Array[],
): boolean {
  if (chunks.length > 1) stream.cork();
  let isTaken = true;
  for (const chunk of chunks) isTaken = stream.write(chunk);
  if (chunks.length > 1) stream.uncork();
  return isTaken;
}

/** When it takes more, or never will. It may be asked for very often, and leaves nothing behind. */
export const drained = (stream: Pick<Writable, "destroyed" | "once" | "off">): Promise<void> =>
  new Promise((done) => {
    if (stream.destroyed) done();
    const settle = () => {
      stream.off("drain", settle).off("close", settle);
      done();
    };
    stream.once("drain", settle).once("close", settle);
  });

/** A request under way. */
export interface UpstreamCall {
  readonly answer: Promise<UpstreamAnswer>;
  /** What is written together leaves together. False when it is to wait for `drained`. */
  write(...chunks: readonly Uint8Array[]): boolean;
  drained(): Promise<void>;
  end(chunk?: Uint8Array): void;
  destroy(): void;
  /** Whether its connection had been used before, so that the upstream may have closed it without having seen this request. */
  readonly isReused: boolean;
}
