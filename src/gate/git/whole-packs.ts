import { createHash } from "node:crypto";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Each of them ends with the SHA-1 of all that is before. */
const SUMMED = /\.(?:pack|idx|rev)$/;
const SUM_BYTES = 20;
const PART_BYTES = 1024 * 1024;

/** Whether the packs of a folder are as git has written them. It reads them once, and unpacks nothing. */
export async function arePacksWhole(folder: string): Promise<boolean> {
  for (const name of await readdir(folder)) {
    if (!SUMMED.test(name)) continue;
    const file = await open(join(folder, name));
    try {
      if (!(await endsWithItsSum(file))) return false;
    } finally {
      await file.close();
    }
  }
  return true;
}

async function endsWithItsSum(file: FileHandle): Promise<boolean> {
  const end = (await file.stat()).size - SUM_BYTES;
  if (end <= 0) return false;
  const hash = createHash("sha1");
  const part = Buffer.allocUnsafe(PART_BYTES);
  for (let at = 0; at < end;) {
    const { bytesRead } = await file.read(part, 0, Math.min(PART_BYTES, end - at), at);
    if (bytesRead === 0) return false;
    hash.update(part.subarray(0, bytesRead));
    at += bytesRead;
  }
  const { bytesRead } = await file.read(part, 0, SUM_BYTES, end);
  return bytesRead === SUM_BYTES && hash.digest().equals(part.subarray(0, SUM_BYTES));
}
