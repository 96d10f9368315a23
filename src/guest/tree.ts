import { failure } from "../model/error-codes.ts";
import type { ContentRecord } from "./builtin.ts";
import { gatherPieces } from "./gather-pieces.ts";
import { protocolError } from "./protocol-error.ts";
import {
  encodeBytesHead,
  encodeDone,
  encodeEntry,
  encodeFileEnd,
  encodeRemoval,
  isPlainPath,
  MAX_PATH_BYTES,
  type GuestEntry,
} from "./records.ts";

/** A member of a tree on its way in or out. `pathBytes` and `linkTargetBytes` count; the strings are for people. */
export interface TreeItem extends GuestEntry {
  /** Of a file. On the way out it has to be read before the next item is asked for; what is left is skipped. */
  readonly content: AsyncIterable<Uint8Array> | undefined;
}

/** On the way in: what is at this path goes, a whole folder too. Nothing there is an error. */
export interface TreeRemoval {
  readonly type: "removal";
  readonly path: string;
  /** Counts instead of `path` when given: for a name that is not UTF-8. */
  readonly pathBytes?: Buffer | undefined;
}

/** What `treeIn` takes, in order. */
export type TreeChange = TreeItem | TreeRemoval;

/** What it takes to make an item; strings are encoded as UTF-8. */
export interface TreeItemInput {
  readonly path: string | Buffer;
  readonly type: "file" | "directory" | "symlink";
  readonly mode: number;
  readonly size?: number;
  readonly mtimeNs?: bigint;
  readonly linkTarget?: string | Buffer;
  readonly content?: AsyncIterable<Uint8Array> | undefined;
}

export function createTreeItem(input: TreeItemInput): TreeItem {
  const pathBytes = Buffer.from(input.path);
  const linkTargetBytes = Buffer.from(input.linkTarget ?? "");
  return {
    type: input.type,
    mode: input.mode,
    size: input.size ?? 0,
    mtimeNs: input.mtimeNs ?? 0n,
    path: pathBytes.toString("utf8"),
    pathBytes,
    linkTarget: input.type === "symlink" ? linkTargetBytes.toString("utf8") : null,
    linkTargetBytes,
    content: input.content,
  };
}

/** The bytes of `tree-in`: small records leave together with what follows them. */
export function encodeTree(items: AsyncIterable<TreeChange> | Iterable<TreeChange>): AsyncGenerator<Uint8Array> {
  return gatherPieces(treeRecords(items));
}

async function* treeRecords(items: AsyncIterable<TreeChange> | Iterable<TreeChange>): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const item of items) {
    yield item.type === "removal" ? encodeChecked(item) : encodeEntry(checkItem(item));
    if (item.type !== "file") continue;
    for await (const data of item.content ?? []) {
      if (data.length === 0) continue;
      total += data.length;
      yield encodeBytesHead(data.length);
      yield data;
    }
    yield encodeFileEnd();
  }
  yield encodeDone(total);
}

function encodeChecked(removal: TreeRemoval): Buffer {
  const pathBytes = removal.pathBytes ?? Buffer.from(removal.path);
  if (pathBytes.length <= MAX_PATH_BYTES && !pathBytes.includes(0) && isPlainPath(pathBytes))
    return encodeRemoval(pathBytes);
  throw failure("INVALID_ARGUMENT", `Cannot remove "${removal.path}" in the sandbox: its path is invalid`);
}

function checkItem(item: TreeItem): TreeItem {
  const { pathBytes, linkTargetBytes } = item;
  const fits = pathBytes.length <= MAX_PATH_BYTES && linkTargetBytes.length <= MAX_PATH_BYTES;
  const clean = !pathBytes.includes(0) && !linkTargetBytes.includes(0);
  if (fits && clean && (pathBytes.length === 0 || isPlainPath(pathBytes))) return item;
  throw failure("INVALID_ARGUMENT", `Cannot put "${item.path}" into the sandbox: its path or link target is invalid`);
}

/** Items from the records of `tree-out`. */
export async function* decodeTree(
  records: AsyncGenerator<ContentRecord, void, undefined>,
): AsyncGenerator<TreeItem, void, undefined> {
  let received = 0;
  try {
    for (;;) {
      const next = await records.next();
      if (next.done) return;
      if (next.value.kind === "done") {
        if (next.value.bytes !== received) throw protocolError("a tree that is not complete");
        return;
      }
      if (next.value.kind !== "entry") throw protocolError(`a ${next.value.kind} record without a file`);
      const { entry } = next.value;
      if (entry.type !== "file") {
        yield { ...entry, content: undefined };
        continue;
      }
      const content = fileContent(records, (bytes) => (received += bytes));
      yield { ...entry, content };
      const rest = content[Symbol.asyncIterator]();
      while (!(await rest.next()).done) continue;
    }
  } finally {
    await records.return();
  }
}

/** Ends at FILE_END. Iterating it again, or after leaving it, goes on where it was. */
function fileContent(
  records: AsyncGenerator<ContentRecord, void, undefined>,
  onBytes: (count: number) => void,
): AsyncIterable<Buffer> {
  let ended = false;
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    if (ended) return { done: true, value: undefined };
    const step = await records.next();
    if (step.done) throw protocolError("a file without its end");
    if (step.value.kind === "bytes") {
      onBytes(step.value.data.length);
      return { done: false, value: step.value.data };
    }
    if (step.value.kind !== "file-end") throw protocolError(`a ${step.value.kind} record within a file`);
    ended = true;
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
