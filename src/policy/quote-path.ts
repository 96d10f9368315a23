const NAMED: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/**
 * A path as git writes it in a patch: as it is, or in double quotes with C escapes when it has control characters, quotes, backslashes or
 * bytes that are no UTF-8. Other letters than ASCII stay readable; git reads both.
 */
export function quotePath(path: string | Uint8Array): string {
  const bytes = Buffer.from(path as string);
  const text = bytes.toString("utf8");
  const readable = Buffer.from(text).equals(bytes);
  const units = readable ? text : bytes.toString("latin1");
  let quoted = "";
  for (const unit of units) {
    const code = unit.codePointAt(0) ?? 0;
    const named = NAMED[unit];
    if (named !== undefined) quoted += named;
    else if (code < 0x20 || code === 0x7f || (!readable && code > 0x7f))
      quoted += `\\${code.toString(8).padStart(3, "0")}`;
    else quoted += unit;
  }
  return quoted === units ? units : `"${quoted}"`;
}
