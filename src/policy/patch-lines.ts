import type { ClocheError } from "../base/errors.ts";
import { failure, type FailOptions } from "../model/error-codes.ts";
import { toByteText, type ByteText } from "./byte-text.ts";

/** A place in the lines of a patch. A last line without a newline counts like the others. */
export class PatchLines {
  readonly #lines: ByteText[];
  #at = 0;

  constructor(patch: string) {
    this.#lines = toByteText(patch).split("\n");
    if (this.#lines.at(-1) === "") this.#lines.pop();
  }

  get ended(): boolean {
    return this.#at >= this.#lines.length;
  }

  /** The line as it is, with a carriage return that it may have. */
  raw(ahead = 0): ByteText | undefined {
    return this.#lines[this.#at + ahead];
  }

  /** The line without a carriage return at its end; empty behind the last one. */
  peek(ahead = 0): ByteText {
    const line = this.raw(ahead) ?? "";
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }

  skip(): void {
    this.#at += 1;
  }

  /** Whether the header lines of a file are here. */
  get atFileHeader(): boolean {
    return this.peek().startsWith("--- ") && this.peek(1).startsWith("+++ ");
  }

  /** PATCH_INVALID that names the present line. */
  invalid(message: string, hint?: FailOptions["hint"]): ClocheError {
    const line = this.#at + 1;
    return failure("PATCH_INVALID", `Line ${line} of the patch: ${message}`, {
      details: { line },
      ...(hint !== undefined && { hint }),
    });
  }
}
