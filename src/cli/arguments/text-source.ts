import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import type { CliIo } from "../io.ts";
import { usageError } from "./usage-error.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
};

/** The text that an option names on the host, `-` being standard input. Text that is no UTF-8 is refused: it would arrive changed. */
export async function readTextSource(
  io: CliIo,
  source: string,
  words: readonly string[],
  flag: string,
): Promise<string> {
  const bytes = await readBytes(io, source).catch((error: unknown) => {
    const reason = REASONS[errnoOf(error) ?? ""] ?? messageOf(error);
    throw usageError(words, `Cannot read ${flag} "${source}": ${reason}`);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError(words, `Cannot use ${flag} "${source}": it is not UTF-8 text`);
  }
}

async function readBytes(io: CliIo, source: string): Promise<Uint8Array> {
  if (source !== "-") return await readFile(resolve(io.cwd, source));
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
