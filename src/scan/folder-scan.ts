import { constants, type Dirent } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.ts";
import type { ScanJob } from "./scan-job.ts";

const CHUNK_BYTES = 1024 * 1024;

/** All files below a folder, or one file. Links are not followed, and what git keeps for itself is left to a range. */
export async function scanPath(job: ScanJob, path: string): Promise<"folder" | "file"> {
  if (!(await lstat(path)).isDirectory()) {
    await scanFile(job, path, path);
    return "file";
  }
  await scanFolder(job, path, "");
  return "folder";
}

async function scanFolder(job: ScanJob, root: string, below: string): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await list(join(root, below));
  } catch (error) {
    job.skip(below, reasonOf(error));
    return;
  }
  for (const entry of entries) {
    const name = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== ".git") await scanFolder(job, root, name);
    } else if (entry.isFile()) await scanFile(job, join(root, name), name);
  }
}

/** In the order of their names, so that two runs tell the same. */
async function list(folder: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(folder, { bufferSize: 256 })) entries.push(entry);
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function scanFile(job: ScanJob, path: string, name: string): Promise<void> {
  try {
    // Nothing that is waited for: it may have become a pipe.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      if (!(await file.stat()).isFile()) throw new Error("it is no ordinary file");
      await job.file(name, null, chunksOf(file));
    } finally {
      await file.close();
    }
  } catch (error) {
    job.skip(name, reasonOf(error));
  }
}

async function* chunksOf(file: Awaited<ReturnType<typeof open>>): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function reasonOf(error: unknown): string {
  const code = errnoOf(error);
  if (code === "ELOOP") return "it is a link";
  return code === "EACCES" ? "permission denied" : (code ?? messageOf(error));
}
