import type { Hint } from "./hint.ts";

/**
 * The one error that crosses a layer or a wire. Recognised by its brand, so that two copies of the package agree.
 * `code` is from a closed list (`src/model/error-codes.ts`), `hint` tells the next step and is never empty.
 */
const BRAND = Symbol.for("cloche.error");

export class ClocheError extends Error {
  readonly [BRAND] = true;
  readonly code: string;
  readonly hint: string;
  /** The hint as data, for a surface that has other words for it. */
  readonly advice: Hint | undefined;
  /** Facts for programs; never a secret. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: string,
    message: string,
    hint: string,
    options: { advice?: Hint | undefined; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ClocheError";
    this.code = code;
    this.hint = hint;
    this.advice = options.advice;
    this.details = options.details;
  }
}

export function isClocheError(value: unknown): value is ClocheError {
  return typeof value === "object" && value !== null && BRAND in value;
}

/** The `code` of a Node system error such as `ENOENT`, or undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
