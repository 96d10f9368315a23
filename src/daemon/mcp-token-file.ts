import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { z } from "zod";
import { writeFileAtomic } from "../base/atomic-write.ts";
import { errnoOf } from "../base/errors.ts";
import { readOpenFile } from "../base/read-plain-file.ts";

const LastingAddress = z.object({
  port: z.number().int().min(1).max(65_535),
  token: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});
/** What a client with a fixed configuration relies on. */
export type LastingAddress = z.infer<typeof LastingAddress>;

const MAX_BYTES = 4096;

/** Undefined when there is none. Throws for a file that others may have read or written, or that is none of ours. */
export function readTokenFile(path: string): LastingAddress | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const { mode, uid } = fstatSync(fd);
  // SECURITY: a token that others could read, or have put there, is nobody's secret (G-34)
  if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) {
    closeSync(fd);
    throw new Error("other users have rights on it");
  }
  return LastingAddress.parse(JSON.parse(readOpenFile(fd, MAX_BYTES).toString("utf8")));
}

export async function writeTokenFile(path: string, address: LastingAddress): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(address)}\n`, 0o600);
}

export const removeTokenFile = (path: string): Promise<void> => rm(path, { force: true });
