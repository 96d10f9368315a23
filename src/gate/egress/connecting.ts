import type { Socket } from "node:net";
import { errnoOf, messageOf } from "../../base/errors.ts";

export const CONNECT_MS = 20_000;

/** The upstream, or the way there, failed. */
export class UpstreamFault extends Error {
  /** What would help, where that is known. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
/** Its connection is gone, or it has said that it did not look at the request. */
export class ConnectionLost extends UpstreamFault {}
/** It takes none of the protocols that it was offered. */
export class OtherProtocol extends UpstreamFault {}
/** The name leads to where no route lets it go. */
export class InsideAddress extends Error {}

/** The socket, once it is connected. */
export function connected(socket: Socket, host: string, patienceMs = CONNECT_MS): Promise<Socket> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => socket.destroy(new Error("no answer in time")), patienceMs);
    const onError = (error: Error) => {
      clearTimeout(timer);
      fail(new UpstreamFault(`cannot connect to ${host}: ${reasonOf(error)}`));
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", onError);
      socket.setNoDelay(true);
      done(socket);
    });
  });
}

/** Short, and with nothing in it that the other side could choose at length. */
export const reasonOf = (error: unknown): string => {
  const errors = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  const [first] = errors;
  return (errnoOf(first) ?? messageOf(first)).slice(0, 200);
};
