import { posix } from "node:path";
import { isClocheError } from "../../base/errors.ts";
import { createTreeItem, type GuestFiles, type TreeItem } from "../../guest/files.ts";

/** A file for the system of a sandbox. */
export interface SystemFile {
  /** From the root of the sandbox's file system. */
  readonly path: string;
  readonly data: Buffer;
  readonly mode: number;
  /** An environment may have made its place read-only. Then it is left. */
  readonly isOptional?: boolean;
}

/**
 * Puts several files below one folder in one call: each call is a process in the sandbox, and on an emulated machine a process takes as long as everything else. What
 * cannot be put so, because a link is in the way or one of them is refused, is written one by one.
 */
export async function putFiles(files: GuestFiles, folder: string, list: readonly SystemFile[]): Promise<void> {
  try {
    await files.treeIn("system", folder, list.map(itemBelow(folder)));
  } catch (error) {
    ignoreRefusal(error);
    await Promise.all(list.map((one) => putFile(files, one)));
  }
}

/** Follows a link at its place. */
export async function putFile(files: GuestFiles, { path, data, mode, isOptional }: SystemFile): Promise<void> {
  const written = files.write("system", path, data, { mode });
  await (isOptional === true ? written.catch(ignoreRefusal) : written);
}

/** Throws what is no word of a sandbox that works. */
export function ignoreRefusal(error: unknown): void {
  if (!isClocheError(error) || error.code === "SANDBOX_LOST") throw error;
}

const itemBelow =
  (folder: string) =>
  ({ path, data, mode }: SystemFile): TreeItem =>
    createTreeItem({
      path: posix.relative(folder, path),
      type: "file",
      mode,
      size: data.length,
      mtimeNs: BigInt(Date.now()) * 1_000_000n,
      content: inOnePiece(data),
    });

// eslint-disable-next-line @typescript-eslint/require-await -- content is a stream
async function* inOnePiece(data: Buffer): AsyncGenerator<Uint8Array> {
  yield data;
}
