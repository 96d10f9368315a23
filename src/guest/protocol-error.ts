import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

/** What a guest sent breaks the protocol. Thrown while decoding; the link turns it into its own end. */
export function protocolError(what: string): ClocheError {
  return failure("GUEST_PROTOCOL", `The guest program broke the protocol: ${what}`);
}

const MAX_SHOWN = 512;

/** Text from a guest, made fit for an error message: one line, printable, short. */
export function shownText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4 * MAX_SHOWN)).toString("utf8");
  // SECURITY: control characters of a guest must not reach a terminal or a log line (G-10)
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").slice(0, MAX_SHOWN);
}
