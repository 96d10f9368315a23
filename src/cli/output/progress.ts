import type { ReportProgress } from "../../model/progress.ts";
import { escapeName } from "./escape.ts";
import type { OutputStream } from "../io.ts";
import { terminalSize } from "../terminal/terminal-size.ts";

export interface ProgressLine {
  readonly report: ReportProgress;
  /** Removes the line, so that other text can follow. */
  clear(): void;
}

/** A step that takes longer shows for how long it has gone on: it is not stuck. */
const QUIET_SECONDS = 3;

/** One line that is rewritten on a terminal; elsewhere a line for each new step, and only when more talk is wanted. */
export function reportTo(stream: OutputStream, verbose: boolean): ProgressLine {
  let step = "";
  let since = 0;
  let shown = "";
  let ticking: NodeJS.Timeout | undefined;
  const erase = () => {
    if (shown !== "") stream.write("\r\u001B[K");
    shown = "";
  };
  const show = (done: string) => {
    const seconds = Math.floor((performance.now() - since) / 1000);
    const line = seconds < QUIET_SECONDS ? done : `${done} (${seconds} s)`;
    erase();
    // One column less than there are: a line that wraps could not be rewritten.
    shown = line.slice(0, Math.max(10, terminalSize(stream).cols - 1));
    stream.write(shown);
  };
  return {
    clear() {
      clearInterval(ticking);
      erase();
      step = "";
    },
    report({ step: name, fraction }) {
      const text = escapeName(name);
      const isNew = text !== step;
      step = text;
      if (!stream.isTTY) {
        if (verbose && isNew) stream.write(`${text}\n`);
        return;
      }
      if (isNew) since = performance.now();
      const done = fraction === undefined ? text : `${text} ${Math.floor(fraction * 100)} %`;
      clearInterval(ticking);
      ticking = setInterval(show, 1000, done).unref();
      show(done);
    },
  };
}
