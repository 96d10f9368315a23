import type { CallName, OperationInput, OperationResult } from "../model/operations.ts";
import type { DaemonConnection } from "./connection.ts";
import type { LongCallOptions } from "./options.ts";

/** One call: what a method takes by position, or works out itself, with the rest of its options. */
export async function ask<Name extends CallName, Given extends Partial<OperationInput<Name>>>(
  connection: DaemonConnection,
  operation: Name,
  given: Given,
  options: Omit<OperationInput<Name>, keyof Given> & LongCallOptions,
): Promise<OperationResult<Name>> {
  const { signal, onProgress, ...input } = options;
  // Together they are the input, which the compiler does not see through the two generics.
  const whole = { ...input, ...given } as unknown as OperationInput<Name>;
  return await connection.call(operation, whole, { signal, onProgress });
}
