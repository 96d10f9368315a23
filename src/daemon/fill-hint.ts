import { ClocheError } from "../base/errors.ts";

/**
 * A hint shows a command with `ID` for the workspace and `NAME` for the service where the place that fails does not know them. The call has said which they
 * are, so that the command can be typed as it is shown.
 */
export function fillHint(error: ClocheError, input: object): ClocheError {
  const { code, message, details, cause } = error;
  const id = textOf(input, "workspace_id");
  const service = textOf(input, "service_name");
  const hint = error.hint.replace(/`cloche workspace [^`]*`/g, (shown) => {
    const named = id === undefined ? shown : shown.replace(/(?<= )ID\b/, () => id);
    return service === undefined ? named : named.replace(/(?<= service \w+ \S+ )NAME\b/, () => service);
  });
  if (hint === error.hint) return error;
  const filled = new ClocheError(code, message, hint, { cause, ...(details && { details: { ...details } }) });
  if (error.stack !== undefined) filled.stack = error.stack;
  return filled;
}

function textOf(input: object, key: string): string | undefined {
  const value: unknown = Object.hasOwn(input, key) ? input[key as keyof typeof input] : undefined;
  return typeof value === "string" ? value : undefined;
}
