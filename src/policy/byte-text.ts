/**
 * Bytes as a string with one byte in each UTF-16 unit (latin1). Texts and names that are no UTF-8 survive, while cutting and comparing stay
 * as cheap as with strings.
 */
export type ByteText = string;

export function toByteText(text: string | Uint8Array): ByteText {
  return Buffer.from(text as string).toString("latin1");
}

export function fromByteText(text: ByteText): Buffer {
  return Buffer.from(text, "latin1");
}

/** In double quotes, for messages; what is no UTF-8 or a control character is escaped or replaced. */
export function quoted(text: ByteText): string {
  return JSON.stringify(fromByteText(text).toString("utf8"));
}
