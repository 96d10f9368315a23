import { isClocheError, messageOf, type ClocheError } from "../../base/errors.ts";
import { ERROR_CODES, failure, isErrorCode, toErrorDocument } from "../../model/error-codes.ts";
import { createColours, wantsColour } from "./colour.ts";
import { escapeName, formatJson } from "./escape.ts";
import type { CliIo } from "../io.ts";
import { toldLines } from "./told-lines.ts";
import { writeAll } from "./write-all.ts";

/** A message, and the lines that it quotes after a colon. These are set in, so that none of them passes for one of ours; all else is escaped. */
function splitMessage(message: string): { text: string; quoted: string[] } {
  const at = message.indexOf(":\n");
  if (at === -1) return { text: escapeName(message), quoted: [] };
  const lines = message.slice(at + 2).split("\n");
  return { text: `${escapeName(message.slice(0, at))}:`, quoted: lines.map((line) => `  ${escapeName(line)}`) };
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
  const told = (label: string, shown: string, text: string) => toldLines(label, shown, text, io.stderr);
  const { text, quoted } = splitMessage(known.message);
  const lines = [...told("error:", red("error:"), text), ...quoted];
  lines.push(...told("hint:", cyan("hint:"), escapeName(known.hint)));
  if (verbose) lines.push(...causesOf(known).flatMap((cause) => told("note:", "note:", escapeName(cause))));
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
