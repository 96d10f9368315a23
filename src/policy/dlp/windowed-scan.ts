import type { Scan } from "./detector.ts";
import type { TextFinding } from "./finding.ts";

/** So much is looked at together … */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** … and so much of it again with what follows: no secret is longer. */
const OVERLAP_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** Looks for secrets in a text that comes in chunks, with memory for one window. */
export class WindowedScan {
  readonly #scan: Scan;
  readonly #name: string;
  readonly #found: (finding: TextFinding) => void;
  readonly #windowBytes: number;
  #waiting: Buffer[] = [];
  #size = 0;
  /** Lines and columns before the window. */
  #line = 0;
  #column = 0;
  /** Of the window before: what lies in both is told once. */
  #known = new Set<string>();
  bytes = 0;

  constructor(scan: Scan, name: string, found: (finding: TextFinding) => void, windowBytes = WINDOW_BYTES) {
    this.#windowBytes = windowBytes;
    this.#scan = scan;
    this.#name = name;
    this.#found = found;
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= this.#windowBytes) this.#look(OVERLAP_BYTES);
  }

  end(): void {
    if (this.#size > 0) this.#look(0);
  }

  #look(keep: number): void {
    const window = this.#waiting.length === 1 ? (this.#waiting[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#waiting);
    const known = new Set<string>();
    for (const finding of this.#scan.file(this.#name, window)) {
      if (finding.severity !== "high") continue;
      const column = finding.line === 1 ? finding.column + this.#column : finding.column;
      const placed = { ...finding, line: finding.line + this.#line, column };
      const key = `${placed.rule} ${placed.line} ${placed.column}`;
      if (!this.#known.has(key)) this.#found(placed);
      known.add(key);
    }
    this.#known = known;
    const rest = window.subarray(window.length - keep);
    this.#pass(window.subarray(0, window.length - keep));
    this.#waiting = keep === 0 ? [] : [Buffer.from(rest)];
    this.#size = rest.length * Math.sign(keep);
  }

  #pass(gone: Buffer): void {
    for (let at = gone.indexOf(NEWLINE); at >= 0; at = gone.indexOf(NEWLINE, at + 1)) this.#line++;
    const last = gone.lastIndexOf(NEWLINE);
    this.#column = last < 0 ? this.#column + gone.length : gone.length - last - 1;
  }
}
