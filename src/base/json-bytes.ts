/** How many bytes a string has in JSON, in UTF-8 and with its quotes, without making it. A control character has six. */
export function jsonBytes(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += ASCII[unit] ?? 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else if (unit <= 0xdbff && isLow(text.charCodeAt(at + 1))) {
      bytes += 4;
      at++;
    } else bytes += 6; // half a character is escaped
  }
  return bytes;
}

/** The beginning of a text that has at most so many bytes in JSON; with `last` its end. */
export function fitJson(text: string, most: number, last = false): string {
  if (jsonBytes(text) <= most) return text;
  let [fits, over] = [0, text.length];
  const part = (length: number) => (last ? text.slice(text.length - length) : text.slice(0, length));
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (jsonBytes(part(middle)) <= most) fits = middle;
    else over = middle;
  }
  return part(fits);
}

/** Control characters, but those with a letter of their own (\b \t \n \f \r); the quote and the backslash. */
const ASCII = new Uint8Array(0x80).map((_, unit) =>
  unit === 0x22 || unit === 0x5c || [8, 9, 10, 12, 13].includes(unit) ? 2 : unit < 0x20 ? 6 : 1,
);
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
