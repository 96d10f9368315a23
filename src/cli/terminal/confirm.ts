import { createInterface } from "node:readline/promises";
import type { CliIo } from "../io.ts";

/** Whether somebody can be asked. */
export const canAsk = ({ stdin, stderr }: Pick<CliIo, "stdin" | "stderr">): boolean =>
  stdin.isTTY === true && stderr.isTTY === true;

/** Asks on the terminal. Only a yes is one: not a wrong key, and not the end of the input. */
export async function confirm({ stdin, stderr }: Pick<CliIo, "stdin" | "stderr">, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  stderr.write(`${question} [y/N] `);
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
