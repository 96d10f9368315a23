import type { ClocheError } from "../base/errors.ts";
import { withAdvice } from "../model/error-codes.ts";
import { fillHint } from "../model/hint.ts";

/** The place that fails may not know which workspace or service it is about. The call has said it, so that what the hint advises can be done as it is shown. */
export function withFilledHint(error: ClocheError, input: object): ClocheError {
  return error.advice === undefined ? error : withAdvice(error, fillHint(error.advice, input));
}
