import type { WireError } from "./error-codes.ts";
import type { OperationName } from "./operations.ts";
import type { Progress } from "./progress.ts";

/** `GET /v1/calls` with `Upgrade: cloche-calls` turns a connection into lines of JSON, one call after the other. */
export const CALLS_PATH = "/v1/calls";
export const CALLS_PROTOCOL = "cloche-calls";

export interface CallLine {
  readonly operation: OperationName;
  readonly input: unknown;
}

/** `refused`: the daemon is ending and has not begun; the next one can be asked. */
export type AnswerLine = { progress: Progress } | { result: unknown } | WireError | { refused: true };
