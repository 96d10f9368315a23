/** A secret that was found: where and by which rule, never what. */
export interface ScanFinding {
  /** As it may be told: what in a name is a secret itself is overwritten. Null in the message of a commit. */
  file: string | null;
  /** From 1. */
  line: number;
  column: number;
  /** In what a file holds, in its name, or in the message of a commit. */
  place: "content" | "path" | "message";
  rule: string;
  detector: string;
  /** How it is written there: `raw`, `base64`, … */
  view: string;
  /** The commit of a range that brought it in; null outside of one. */
  commit: string | null;
  /** The same for the same secret, written the same way, in every file and commit. */
  fingerprint: string;
}

export interface ScanReport {
  target: string;
  kind: "folder" | "file" | "range";
  file_count: number;
  byte_count: number;
  /** Of a range. */
  commit_count: number;
  finding_count: number;
  findings: ScanFinding[];
  /** There are more findings than are told. */
  truncated: boolean;
  /** What could not be read, and why. */
  skipped: { file: string; reason: string }[];
}
