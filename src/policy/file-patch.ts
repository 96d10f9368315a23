import type { ByteText } from "./byte-text.ts";
import type { GitMode } from "./unified-diff.ts";

export interface HunkLine {
  readonly mark: " " | "-" | "+";
  /** With its newline; without one only at the end of a file. */
  readonly text: ByteText;
}

export interface Hunk {
  /** `@@ -1,3 +1,4 @@`, for messages. */
  readonly header: string;
  /** As the header has it: from 1, or the line before when `oldCount` is 0. */
  readonly oldStart: number;
  readonly oldCount: number;
  readonly lines: readonly HunkLine[];
}

/** What a patch says of one file. Paths are relative to the workspace and do not climb. */
export interface FilePatch {
  readonly kind: "add" | "modify" | "delete" | "rename" | "copy";
  readonly path: ByteText;
  /** Of a rename or copy where it comes from, else the same as `path`. */
  readonly oldPath: ByteText;
  /** Where the patch says so. */
  readonly oldMode: GitMode | undefined;
  readonly newMode: GitMode | undefined;
  readonly hunks: readonly Hunk[];
  /** The same hunks for a file with CRLF lines; only of a patch whose own lines end with CRLF, where both can be meant. */
  readonly crlfHunks?: readonly Hunk[] | undefined;
}
