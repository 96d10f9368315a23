import { failure } from "../model/error-codes.ts";

/** How the outside reaches into an import that runs, and the import out. */
export interface JobControl {
  progress(step: string, fraction?: number): void;
  /** Cheap; asked between files, also while the thread never returns to its event loop. */
  aborted(): boolean;
  /** For waits. */
  readonly signal: AbortSignal;
}

export function checkAborted(control: JobControl): void {
  if (control.aborted()) throw failure("CANCELLED", "The import was cancelled");
}
