import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { fromByteText, quoted, type ByteText } from "./byte-text.ts";
import { toWorkspaceAbsolute } from "./workspace-path.ts";

const MAX_SHOWN = 120;

export interface Difference {
  readonly hunk?: string;
  /** Lines; undefined for the end of the file. */
  readonly expected?: ByteText | undefined;
  readonly found?: ByteText | undefined;
}

/** PATCH_REJECTED for a file; its details tell the hunk and the first lines that differ, null where the file ends. */
export function rejected(path: ByteText, reason: string, difference: Difference = {}): ClocheError {
  const { hunk, expected, found } = difference;
  return failure("PATCH_REJECTED", `Cannot patch ${quoted(path)}: ${reason}`, {
    details: {
      file: toWorkspaceAbsolute(fromByteText(path).toString("utf8")),
      ...(hunk !== undefined && { hunk, expected: shortened(expected), found: shortened(found) }),
    },
  });
}

/** `expected "x", found "y"`; says so where only the newline at the end differs. */
export function describeDifference({ expected, found }: Difference): string {
  const bare = expected !== undefined && found !== undefined && withoutNewline(expected) === withoutNewline(found);
  return `expected ${describeLine(expected, bare)}, found ${describeLine(found, bare)}`;
}

function describeLine(line: ByteText | undefined, tellNewline: boolean): string {
  if (line === undefined) return "the end of the file";
  const ending = line.endsWith("\n") ? "with" : "without";
  return JSON.stringify(shortened(line)) + (tellNewline ? ` ${ending} a newline` : "");
}

const withoutNewline = (line: ByteText): ByteText => (line.endsWith("\n") ? line.slice(0, -1) : line);

function shortened(line: ByteText | undefined): string | null {
  if (line === undefined) return null;
  const bytes = fromByteText(withoutNewline(line).slice(0, 4 * MAX_SHOWN + 1));
  const letters = Array.from(bytes.toString("utf8"));
  return letters.length > MAX_SHOWN ? `${letters.slice(0, MAX_SHOWN).join("")}…` : letters.join("");
}
