import type { ImportOutcome, ImportRequest } from "./import-job.ts";

/** What the importing thread is told. It gets one import at a time. */
export type ImportOrder =
  | {
      readonly type: "import";
      readonly id: number;
      readonly request: ImportRequest;
      /** One `Int32`; not 0 once the import is to stop. */
      readonly stop: SharedArrayBuffer;
    }
  /** Wakes an import that waits; one that never rests looks at `stop`. */
  | { readonly type: "stop"; readonly id: number };

export interface ErrorMessage {
  /** Absent for a fault in the program. */
  readonly code?: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** What it sends back. The last message of an import is `done` or `failed`. */
export type ImportMessage =
  | { readonly type: "progress"; readonly step: string; readonly fraction?: number }
  | { readonly type: "done"; readonly outcome: ImportOutcome }
  | { readonly type: "failed"; readonly error: ErrorMessage };
