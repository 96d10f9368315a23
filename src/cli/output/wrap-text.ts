/**
 * Breaks a text between its words into lines of at most that many columns. A longer word stays whole, so that a path or a command can still be
 * copied.
 */
export function wrapText(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(line);
        line = word;
      } else line += line === "" ? word : ` ${word}`;
    }
    return [...lines, line];
  });
}

/** The same after a beginning of `indent` columns, under which the further lines are set in. */
export function hangText(beginning: string, indent: number, text: string, width: number): string[] {
  const [first = "", ...rest] = wrapText(text, width - indent);
  return [(beginning + first).trimEnd(), ...rest.map((line) => " ".repeat(indent) + line)];
}

/** In characters, not code units. */
export const widthOf = (text: string): number => Array.from(text).length;
