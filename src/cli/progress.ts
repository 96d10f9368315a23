import type { ReportProgress } from "../model/results.ts";
import { escapeName } from "./escape.ts";
import type { OutputStream } from "./io.ts";
import { terminalSize } from "./terminal-size.ts";

export interface ProgressLine {
  readonly report: ReportProgress;
  /** Removes the line, so that other text can follow. */
  clear(): void;
}

/** One line that is rewritten on a terminal; elsewhere a line for each new step, and only when more talk is wanted. */
export function reportTo(stream: OutputStream, verbose: boolean): ProgressLine {
  let shown = "";
  const clear = () => {
    if (shown !== "" && stream.isTTY) stream.write("\r\u001B[K");
    shown = "";
  };
  return {
    clear,
    report({ step, fraction }) {
      const text = escapeName(step);
      if (!stream.isTTY) {
        if (verbose && text !== shown) stream.write(`${text}\n`);
        shown = text;
        return;
      }
      clear();
      const line = fraction === undefined ? text : `${text} ${Math.floor(fraction * 100)} %`;
      // One column less than there are: a line that wraps could not be rewritten.
      shown = line.slice(0, Math.max(10, terminalSize(stream).cols - 1));
      stream.write(shown);
    },
  };
}
