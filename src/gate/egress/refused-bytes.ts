import type { Duplex } from "node:stream";
import type { Place } from "../../policy/egress/absolute-url.ts";
import { denied, shownHost } from "./admission.ts";
import { denialAnswer } from "./denial.ts";
import type { EgressContext } from "./egress-context.ts";
import { ExchangeRecord } from "./exchange-record.ts";

/** Of Node's parser: what it does not take, and not that a connection broke. */
interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

const NOWHERE = { host: "", port: 0 };

/** What the parser does not take has no second reading. It is answered as every refusal is, and told. */
export function refuseBytes(context: EgressContext, error: ParserError, socket: Duplex, place?: Place): void {
  if (!socket.writable || error.code?.startsWith("HPE_") !== true) {
    socket.destroy();
    return;
  }
  const { host, port } = place ?? NOWHERE;
  const head = { method: "-", host: shownHost(context.policy(), host), port, path: "" };
  const reason = error.reason ?? "it is not HTTP";
  const { denial } = denied(
    new ExchangeRecord(context.events, head),
    "BAD_REQUEST",
    `The gate cannot read this: ${reason}`,
  );
  socket.end(refusalBytes("400 Bad Request", denialAnswer(denial)));
}

/** An answer as bytes, where there is no response to write it to. Nothing comes after it. */
export function refusalBytes(status: string, { headers, body }: ReturnType<typeof denialAnswer>): Buffer {
  const lines = headers.map((text, at) => text + (at % 2 === 0 ? ": " : "\r\n")).join("");
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines}connection: close\r\n\r\n`), body]);
}
