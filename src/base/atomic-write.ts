import { randomName } from "./ids.ts";
import { open, rename, rm } from "node:fs/promises";

/** Writes a file so that a reader, or a crash, sees the old content or the new and nothing between. */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${path}.${randomName(6)}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
