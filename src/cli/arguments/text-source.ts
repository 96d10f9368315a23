import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import type { CliIo } from "../io.ts";
import { usageError } from "./usage-error.ts";

/** More than a request carries. A device may have no end. */
const MAX_MIB = 64;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
};

/** What an option names on the host, byte for byte, `-` being standard input. */
export async function readSource(
  io: CliIo,
  source: string,
  words: readonly string[],
  flag: string,
): Promise<Uint8Array> {
  return await readBytes(io, source).catch((error: unknown) => {
    const reason = REASONS[errnoOf(error) ?? ""] ?? messageOf(error);
    throw usageError(words, `Cannot read ${flag} "${source}": ${reason}`);
  });
}

/** The same as text. What is no UTF-8 is refused: it would arrive changed. */
export async function readTextSource(
  io: CliIo,
  source: string,
  words: readonly string[],
  flag: string,
): Promise<string> {
  const bytes = await readSource(io, source, words, flag);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError(words, `Cannot use ${flag} "${source}": it is not UTF-8 text`);
  }
}

async function readBytes(io: CliIo, source: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source === "-" ? io.stdin : createReadStream(resolve(io.cwd, source))) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > MAX_MIB * 1024 * 1024) throw new Error(`it has more than ${MAX_MIB} MiB`);
  }
  return Buffer.concat(chunks);
}
