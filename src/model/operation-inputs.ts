import { OPERATIONS, type OperationName } from "./operations.ts";
import * as fields from "./operations/fields.ts";

type Inputs = { readonly [Name in OperationName]: ReturnType<(typeof OPERATIONS)[Name]["input"]> };

/** The schema of each operation's input, for code that checks or describes it. Unknown keys are errors. */
export const INPUTS = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, { input }]) => [name, input(fields)]),
) as unknown as Inputs;
