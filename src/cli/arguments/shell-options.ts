import { BadValue } from "./bad-value.ts";
import type { OptionSpec, PositionalSpec } from "./option-spec.ts";

/** Options and positionals of the commands about shells. */
export const SHELL: PositionalSpec = {
  name: "SHELL",
  description: "The shell's id, as `shell list` shows it",
  completes: "shell",
};

const MAX_SIZE = 1000;

function parseSize(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1 && value <= MAX_SIZE)) throw new BadValue(`give a whole number from 1 to ${MAX_SIZE}`);
  return value;
}

export function parseOffset(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new BadValue("give a whole number, 0 or more");
  return value;
}

export const COLS = {
  type: "string",
  value: "N",
  description: "Columns of the terminal",
  parse: parseSize,
} as const satisfies OptionSpec;

export const ROWS = {
  type: "string",
  value: "N",
  description: "Rows of the terminal",
  parse: parseSize,
} as const satisfies OptionSpec;
