import type { OutputStream } from "../io.ts";

const MAX = 1000;

/** The size of the terminal, within what a command can be given. One that does not know its size says 0. */
export function terminalSize({ columns, rows }: Pick<OutputStream, "columns" | "rows">): {
  cols: number;
  rows: number;
} {
  const within = (value: number | undefined, fallback: number) =>
    Math.min(MAX, value === undefined || value < 1 ? fallback : value);
  return { cols: within(columns, 80), rows: within(rows, 24) };
}
