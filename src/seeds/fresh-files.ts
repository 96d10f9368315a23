import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { joined, toFs, type BytePath } from "./byte-path.ts";

/**
 * A file written twice within the grain of the file system's clock has the same times after both. So a file that was still fresh when it was
 * copied is remembered with its content's digest, and looked at once more before the copy is used again.
 */
export interface FreshFile {
  readonly path: BytePath;
  readonly sha256: string;
}

const COARSE_GRAIN_MS = 2000;
const FINE_GRAIN_MS = 100;

/** `readMs` is when reading the content began. */
export function isFresh(ctimeMs: number, readMs: number): boolean {
  // Times in whole seconds are those of an old or foreign file system, whose clock may step by two.
  const grain = ctimeMs % 1000 === 0 ? COARSE_GRAIN_MS : FINE_GRAIN_MS;
  return readMs - ctimeMs < grain;
}

const buffer = Buffer.allocUnsafe(1024 * 1024);

export function digestOf(path: BytePath): string {
  const digest = createHash("sha256");
  const fd = openSync(toFs(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // SECURITY: a pipe in its place would be waited for (G-13)
    if (!fstatSync(fd).isFile()) return "";
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      digest.update(buffer.subarray(0, count));
  } finally {
    closeSync(fd);
  }
  return digest.digest("hex");
}

/** Whether each file still has the content that was copied; `settled` when none of them can change again with the same times. */
export function compareContent(root: BytePath, files: readonly FreshFile[]): "settled" | "same" | "different" {
  const readMs = Date.now();
  if (!files.every(({ path, sha256 }) => digestOf(joined(root, path)) === sha256)) return "different";
  const fresh = files.some(({ path }) => isFresh(statSync(toFs(joined(root, path))).ctimeMs, readMs));
  return fresh ? "same" : "settled";
}
