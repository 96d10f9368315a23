import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { joined, toFs, type BytePath } from "./byte-path.ts";

/**
 * A file written twice within the grain of the file system's clock has the same times after both. So a file that was still fresh when it was
 * copied is remembered with its content's digest, and looked at once more before the copy is used again.
 */
export interface FreshFile {
  readonly path: BytePath;
  readonly sha256: string;
}

const COARSE_GRAIN_NS = 2_000_000_000n;
const FINE_GRAIN_NS = 100_000_000n;

/** `nowNs` is when the content was read. */
export function isFresh(ctimeNs: bigint, nowNs: bigint): boolean {
  // Times in whole seconds are those of an old or foreign file system, whose clock may step by two.
  const grain = ctimeNs % 1_000_000_000n === 0n ? COARSE_GRAIN_NS : FINE_GRAIN_NS;
  return nowNs - ctimeNs < grain;
}

export function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

const buffer = Buffer.allocUnsafe(1024 * 1024);

export function digestOf(path: BytePath): string {
  const digest = createHash("sha256");
  const fd = openSync(toFs(path), "r");
  try {
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer))
      digest.update(buffer.subarray(0, count));
  } finally {
    closeSync(fd);
  }
  return digest.digest("hex");
}

/** Whether each file still has the content that was copied. */
export function sameContent(root: BytePath, files: readonly FreshFile[]): boolean {
  return files.every(({ path, sha256 }) => digestOf(joined(root, path)) === sha256);
}
