import { lstat, open, rename, rm } from "node:fs/promises";
import { errnoOf, messageOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";

/** OUTPUT_EXISTS, before anything is done for it. */
export async function refuseExisting(path: string): Promise<void> {
  if (!(await lstat(path).catch(() => undefined))) return;
  throw failure("OUTPUT_EXISTS", `Cannot write "${path}": it exists`, {
    hint: [
      way`Choose an output path that does not exist`,
      way`let it take the place of the file with ${argument("overwrite")}`,
    ],
  });
}

/** A file for others, whole or not at all. What is in it is signed, and no secret. */
export async function writeOutput(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const temporary = `${path}.${randomName(6)}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o644);
    try {
      for await (const piece of pieces) await file.write(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    if (errnoOf(error) === "ENOSPC") throw failure("DISK_FULL", `Cannot write "${path}": no space is left`);
    throw failure("OUTPUT_INVALID", `Cannot write "${path}": ${messageOf(error)}`, { cause: error });
  }
}
