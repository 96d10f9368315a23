/** How text of a sandbox may look on a terminal: what can be read whatever colours the terminal has. */
export interface Style {
  readonly bold: boolean;
  readonly italic: boolean;
  readonly underlined: boolean;
  /** The number of a colour, or none. */
  readonly colour: number | undefined;
}

export const NO_STYLE: Style = { bold: false, italic: false, underlined: false, colour: undefined };
export const STYLE_END = "\u001B[0m";

export function openStyle({ bold, italic, underlined, colour }: Style): string {
  const codes = [...(bold ? [1] : []), ...(italic ? [3] : []), ...(underlined ? [4] : []), ...(colour ? [colour] : [])];
  return codes.length === 0 ? "" : `\u001B[${codes.join(";")}m`;
}

/**
 * The style after a sequence with these codes.
 * SECURITY: only styles that hide nothing are known here. Concealed, dim and blinking text is not, nor is a background; black, white, grey and
 * colours by number are not, as the terminal's own background may be the same (G-27).
 */
export function styleAfter(style: Style, codes: string): Style {
  const parts = codes.split(";");
  let next = style;
  for (let at = 0; at < parts.length; at++) {
    // What has parts of its own is one code: an underline of some kind, or a colour.
    const [code = "", kind] = (parts[at] ?? "").split(":");
    const number = Number(code);
    if (number === 38 || number === 48 || number === 58) {
      if (number === 38) next = { ...next, colour: numbered(parts.slice(at + 1)) };
      if (kind === undefined) at += parts[at + 1] === "2" ? 4 : 2;
    } else next = applied(next, number, kind);
  }
  return next;
}

/** The sixteen colours have numbers in the palette too. */
function numbered([kind, number]: readonly string[]): number | undefined {
  const index = kind === "5" ? Number(number) : NaN;
  if (index >= 1 && index <= 6) return 30 + index;
  return index >= 9 && index <= 14 ? 82 + index : undefined;
}

function applied(style: Style, code: number, kind: string | undefined): Style {
  if (code === 0) return NO_STYLE;
  if (code === 1 || code === 22) return { ...style, bold: code === 1 };
  if (code === 3 || code === 23) return { ...style, italic: code === 3 };
  if (code === 4 || code === 24) return { ...style, underlined: code === 4 && kind !== "0" };
  if ((code >= 31 && code <= 36) || (code >= 91 && code <= 96)) return { ...style, colour: code };
  return code === 30 || code === 37 || code === 39 || code === 90 || code === 97
    ? { ...style, colour: undefined }
    : style;
}
