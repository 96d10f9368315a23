import type { ByteText } from "./byte-text.ts";

const NAMED: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};

/** Reads a name in double quotes with C escapes at the start of `text`; `end` is behind the closing quote. Undefined when it is none. */
export function unquotePath(text: ByteText): { readonly path: ByteText; readonly end: number } | undefined {
  const match = /^"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"/.exec(text);
  if (!match) return undefined;
  const path = (match[1] ?? "").replaceAll(
    /\\(?:([0-3][0-7]{2})|(.))/g,
    (_, octal: string | undefined, named: string) =>
      octal === undefined ? (NAMED[named] ?? "") : String.fromCharCode(parseInt(octal, 8)),
  );
  return { path, end: match[0].length };
}
