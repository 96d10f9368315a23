import { constants } from "node:os";
import { ClocheError } from "../base/errors.ts";
import type { GuestFiles } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import { hasFewLines } from "../policy/has-few-lines.ts";
import { fromByteText, quoted, toByteText, type ByteText } from "../policy/byte-text.ts";
import type { FileState } from "../policy/patch-tree.ts";

/** Of one file that a patch changes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Of all of them together: they are in memory at once. */
const MAX_TOTAL_BYTES = 24 * 1024 * 1024;
/** Each costs far more than its bytes. */
const MAX_LINES = 500_000;
const AT_ONCE = 8;

export interface NamedFiles {
  /** Files and links; undefined for what is not there. */
  readonly states: ReadonlyMap<ByteText, FileState | undefined>;
  /** Of the paths themselves. */
  readonly folders: ReadonlySet<ByteText>;
  /** What stands in the way of a path where a folder should be: a file, link or other thing. */
  readonly obstacles: ReadonlyMap<ByteText, string>;
}

/** What the given paths and the folders above them are in the workspace. */
export async function readNamedFiles(files: GuestFiles, paths: ReadonlySet<ByteText>): Promise<NamedFiles> {
  const states = new Map<ByteText, FileState | undefined>([...paths].map((path) => [path, undefined]));
  const folders = new Set<ByteText>();
  const obstacles = new Map<ByteText, string>();
  let total = 0;
  const work = new Set([...paths, ...[...paths].flatMap(foldersAbove)]);
  await inParallel(work, async (path) => {
    const bytes = fromByteText(path);
    // SECURITY: the guest refuses a path whose links lead out of the workspace (G-11)
    const entry = await unlessMissing(files.stat("workspace", bytes));
    if (!entry) return;
    if (entry.type === "directory") {
      if (paths.has(path)) folders.add(path);
      return;
    }
    obstacles.set(path, entry.type === "other" ? "no file or folder" : `a ${entry.type}`);
    if (!paths.has(path)) return;
    if (entry.type === "other")
      throw failure("FILE_WRONG_TYPE", `Cannot patch ${quoted(path)}: it is no file or symlink`);
    total += entry.size;
    if (entry.size > MAX_FILE_BYTES || total > MAX_TOTAL_BYTES) throw tooLarge(path);
    const content = entry.type === "symlink" ? entry.linkTargetBytes : await readWhole(files, path, entry.size);
    states.set(path, { type: entry.type, mode: entry.mode, content: toByteText(content) });
  });
  return { states, folders, obstacles };
}

export function foldersAbove(path: ByteText): ByteText[] {
  return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
}

/** As large as it was said to be: one that has grown meanwhile is not what was counted. */
async function readWhole(files: GuestFiles, path: ByteText, size: number): Promise<Buffer> {
  const { content, truncated } = await files.readAll("workspace", fromByteText(path), { maxBytes: size });
  if (truncated || !hasFewLines(content, MAX_LINES)) throw tooLarge(path);
  return content;
}

function tooLarge(path: ByteText): ClocheError {
  return failure("FILE_TOO_LARGE", `Cannot patch ${quoted(path)}: it is too large`, {
    hint: "Change it with a command in the workspace",
  });
}

/** A path below something that is no folder does not exist either. */
async function unlessMissing<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    const errno = error instanceof ClocheError ? error.details?.["errno"] : undefined;
    if (errno === constants.errno.ENOENT || errno === constants.errno.ENOTDIR) return undefined;
    throw error;
  }
}

async function inParallel<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
