/** How many bytes a string has in JSON, in UTF-8 and with its quotes, without making it. A control character has six. */
export function jsonBytes(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20) bytes += NAMED.has(unit) ? 2 : 6;
    else if (unit === QUOTE || unit === BACKSLASH) bytes += 2;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else if (unit <= 0xdbff && isLow(text.charCodeAt(at + 1))) {
      bytes += 4;
      at++;
    } else bytes += 6; // half a character is escaped
  }
  return bytes;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Those with a letter of their own: \b \t \n \f \r. */
const NAMED: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
