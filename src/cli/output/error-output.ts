import { isClocheError, messageOf, type ClocheError } from "../../base/errors.ts";
import { ERROR_CODES, failure, isErrorCode, toErrorDocument } from "../../model/error-codes.ts";
import { createColours, wantsColour } from "./colour.ts";
import { escapeName, formatJson } from "./escape.ts";
import type { CliIo } from "../io.ts";
import { writeAll } from "./write-all.ts";

/** Where lines follow a colon they are shown as such, set in so that none of them passes for one of ours; all else is escaped. */
function escapeMessage(message: string): string {
  const at = message.indexOf(":\n");
  if (at === -1) return escapeName(message);
  const lines = message.slice(at + 2).split("\n");
  return [`${escapeName(message.slice(0, at))}:`, ...lines.map((line) => `  ${escapeName(line)}`)].join("\n");
}

/** Two lines on stderr, more where the message quotes some, or with `--json` the one document on stdout. */
export async function reportError(
  error: unknown,
  output: { io: CliIo; json: boolean; verbose: boolean },
): Promise<void> {
  const { io, json, verbose } = output;
  const known = toClocheError(error);
  if (json) {
    await writeAll(io.stdout, `${formatJson(toErrorDocument(known))}\n`);
    return;
  }
  const { red, cyan } = createColours(wantsColour(io.stderr, io.env));
  const lines = [`${red("error:")} ${escapeMessage(known.message)}`, `${cyan("hint:")} ${escapeName(known.hint)}`];
  if (verbose) lines.push(...causesOf(known).map((cause) => `note: ${escapeName(cause)}`));
  await writeAll(io.stderr, `${lines.join("\n")}\n`);
}

export function exitCodeOf(error: unknown): number {
  const { code } = toClocheError(error);
  return isErrorCode(code) ? ERROR_CODES[code].exit : 1;
}

const toClocheError = (error: unknown): ClocheError =>
  isClocheError(error) ? error : failure("INTERNAL", messageOf(error), { cause: error });

function causesOf(error: ClocheError): string[] {
  const causes = [`code ${error.code}`];
  for (
    let cause = error.cause;
    cause !== undefined && causes.length < 8;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    causes.push(`caused by: ${messageOf(cause)}`);
  }
  return causes;
}
