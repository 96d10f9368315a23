import { jsonBytes } from "../base/json-bytes.ts";
import { failure } from "../model/error-codes.ts";
import { runBuiltin, type BuiltinCall, type ContentRecord } from "./builtin.ts";
import type { GuestClient } from "./client.ts";
import { decodeMany, encodeMany, type FileFound, type FileWanted } from "./many-files.ts";
import { protocolError } from "./protocol-error.ts";
import { type ChangesManner, encodeChangesAsked, encodeDone, type FileChange, type GuestEntry } from "./records.ts";
import { decodeTree, encodeTree, type TreeChange, type TreeItem } from "./tree.ts";

export type { FileFound, FileWanted } from "./many-files.ts";
export type { FileChange, GuestEntry } from "./records.ts";
export { createTreeItem, type TreeChange, type TreeItem, type TreeItemInput, type TreeRemoval } from "./tree.ts";

/**
 * `baseline` is what the workspace was at the start, `upper` its writable layer, both read-only; `system` is `/`. `layers:N` is the baseline with the first
 * N layers over it, for `stat`, `read` and `readMany`.
 */
export type GuestRoot = "workspace" | "baseline" | "upper" | "system" | `layers:${number}`;
/** Relative to the root, empty for the root itself; bytes for a name that is not UTF-8. */
export type GuestPath = string | Uint8Array;

/** A path of `/workspace` whose changes are asked for; empty for all of it. */
export interface ChangesAsked {
  readonly manner: ChangesManner;
  readonly path: GuestPath;
}

export interface ChangesFound {
  readonly changes: FileChange[];
  /** Not looked into: the baseline has no such folder, and `asking` was how to look. */
  readonly folders: GuestEntry[];
  /** How many changes there are where they were to be counted. */
  readonly counted: number;
}

export interface FileCall {
  readonly signal?: AbortSignal | undefined;
  /** The path as the user gave it, for messages; else the path itself. */
  readonly shownPath?: string | undefined;
  /** After which a sandbox that says nothing is given up; half a minute when not given. */
  readonly stallMs?: number | undefined;
}

const DEFAULT_MAX_ENTRIES = 100_000;
/** Of all names of one list together, as they are emitted. */
const MAX_LIST_BYTES = 12 * 1024 * 1024;

/** File work in a sandbox, done there by the guest program as the given user. Every error names the path. */
export class GuestFiles {
  readonly #client: GuestClient;
  readonly #user: BuiltinCall["user"];

  constructor(client: GuestClient, user: { readonly uid: number; readonly gid: number }) {
    this.#client = client;
    this.#user = user;
  }

  /** The entry itself, also of a link; its `path` is empty. */
  async stat(root: GuestRoot, path: GuestPath, call: FileCall = {}): Promise<GuestEntry> {
    const [entry] = await this.#client.brief.during(() =>
      this.#collect(this.#run("look at", path, ["stat", root, path], call), 1, pickEntry),
    );
    if (entry === undefined) throw protocolError("a stat without an entry");
    return entry;
  }

  /** What is below, parents first. TOO_MANY_ENTRIES when there is more than `maxEntries`. */
  async list(
    root: GuestRoot,
    path: GuestPath,
    call: FileCall & { recursive?: boolean | undefined; maxEntries?: number | undefined } = {},
  ): Promise<GuestEntry[]> {
    const max = call.maxEntries ?? DEFAULT_MAX_ENTRIES;
    const argv = ["list", root, path, call.recursive ? "1" : "0", String(max + 1)];
    return this.#collect(this.#run("list", path, argv, call, { walks: true }), max, pickEntry);
  }

  /** `chunks` has to be read to its end or left; an error in the middle of the content is thrown there. */
  async read(
    root: GuestRoot,
    path: GuestPath,
    call: FileCall & { offset?: number | undefined; length?: number | undefined } = {},
  ): Promise<{ entry: GuestEntry; chunks: AsyncIterable<Buffer> }> {
    const length = call.length ?? Number.MAX_SAFE_INTEGER;
    const records = this.#run("read", path, ["read", root, path, String(call.offset ?? 0), String(length)], call);
    const first = await records.next();
    if (first.done || first.value.kind !== "entry") {
      await records.return();
      throw protocolError("content without its file");
    }
    return { entry: first.value.entry, chunks: contentOf(records, length) };
  }

  /** At most `maxBytes` from `offset` on. */
  async readAll(
    root: GuestRoot,
    path: GuestPath,
    call: FileCall & { maxBytes: number; offset?: number | undefined },
  ): Promise<{ entry: GuestEntry; content: Buffer; truncated: boolean }> {
    return this.#client.brief.during(async () => {
      const { entry, chunks } = await this.read(root, path, { ...call, length: call.maxBytes });
      const parts: Buffer[] = [];
      let size = 0;
      for await (const chunk of chunks) {
        parts.push(chunk);
        size += chunk.length;
      }
      return { entry, content: Buffer.concat(parts, size), truncated: (call.offset ?? 0) + size < entry.size };
    });
  }

  /** What many paths hold, in their order, in one call. No link is followed; what cannot be read is told, and the rest goes on. */
  readMany(
    root: GuestRoot,
    wanted: readonly FileWanted[],
    call: FileCall = {},
  ): AsyncGenerator<FileFound, void, undefined> {
    const shownPath = call.shownPath ?? "/workspace";
    const records = this.#run(
      "read",
      shownPath,
      ["read-many", root],
      { ...call, shownPath },
      { input: encodeMany(wanted) },
    );
    return decodeMany(records, wanted);
  }

  /** Replaces the file at once when all content has come; makes parents. Gives the bytes written. */
  async write(
    root: GuestRoot,
    path: GuestPath,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    call: FileCall & { mode?: number | undefined } = {},
  ): Promise<number> {
    const mode = call.mode === undefined ? "-" : call.mode.toString(8);
    const brief = content instanceof Uint8Array;
    const write = () =>
      this.#finish(this.#run("write", path, ["write", root, path, mode], call, { input: brief ? [content] : content }));
    return brief ? this.#client.brief.during(write) : write();
  }

  /** Parents too; an existing folder is fine. */
  async mkdir(root: GuestRoot, path: GuestPath, call: FileCall & { mode?: number | undefined } = {}): Promise<void> {
    const argv = ["mkdir", root, path, (call.mode ?? 0o755).toString(8)];
    await this.#client.brief.during(() => this.#finish(this.#run("make", path, argv, call)));
  }

  async remove(
    root: GuestRoot,
    path: GuestPath,
    call: FileCall & { recursive?: boolean | undefined } = {},
  ): Promise<void> {
    await this.#finish(this.#run("remove", path, ["remove", root, path, call.recursive ? "1" : "0"], call));
  }

  /** `path` itself first, with an empty path, then what is below. Sockets, devices and pipes are left out. */
  treeOut(root: GuestRoot, path: GuestPath, call: FileCall = {}): AsyncGenerator<TreeItem, void, undefined> {
    return decodeTree(this.#run("take out", path, ["tree-out", root, path], call, { walks: true }));
  }

  /**
   * All of it or nothing: put in place once everything has come, and taken back when something cannot be. Files are replaced, folders kept and made,
   * also `path` itself; a removal makes room for another type. Gives the bytes of content written.
   */
  async treeIn(
    root: GuestRoot,
    path: GuestPath,
    items: AsyncIterable<TreeChange> | Iterable<TreeChange>,
    call: FileCall = {},
  ): Promise<number> {
    return await this.treeInRecords(root, path, encodeTree(items), call);
  }

  /** The same of what another guest program has read. */
  async treeInRecords(
    root: GuestRoot,
    path: GuestPath,
    records: AsyncIterable<Uint8Array>,
    call: FileCall = {},
  ): Promise<number> {
    const more = { input: records, namesMember: true };
    return this.#finish(this.#run("put in", path, ["tree-in", root, path], call, more));
  }

  /** All that differs from the baseline, sorted by path. TOO_MANY_ENTRIES when there is more than `maxEntries`. */
  async changes(call: FileCall & { maxEntries?: number | undefined } = {}): Promise<FileChange[]> {
    const { changes } = await this.changesAt([{ manner: "whole", path: "" }], call);
    return changes;
  }

  /** What differs from an earlier state at the paths asked for, each list sorted by path. TOO_MANY_ENTRIES when there is more than `maxEntries`. */
  async changesAt(
    asked: readonly ChangesAsked[],
    call: FileCall & { maxEntries?: number | undefined; layers?: number | undefined } = {},
  ): Promise<ChangesFound> {
    const max = call.maxEntries ?? DEFAULT_MAX_ENTRIES;
    const shownPath = call.shownPath ?? "/workspace";
    const argv = ["changes", String(max + 1), String(call.layers ?? 0)];
    const more = { input: encodeAsked(asked), walks: true };
    let counted = 0;
    const run = countingDone(this.#run("compare", shownPath, argv, { ...call, shownPath }, more), (count) => {
      counted = count;
    });
    const found = await this.#collect(run, max, pickChangeOrFolder);
    found.sort((a, b) => Buffer.compare(a.pathBytes, b.pathBytes));
    return {
      changes: found.flatMap((one) => ("status" in one ? [one] : [])),
      folders: found.flatMap((one) => ("status" in one ? [] : [one])),
      counted,
    };
  }

  /** The writable layer as a stream for `layer-unpack`, with what commands have closed to everybody. Only for the sandbox's root. */
  layerOut(call: FileCall = {}): AsyncGenerator<Buffer, void, undefined> {
    const shownPath = call.shownPath ?? "/workspace";
    return contentOf(this.#run("save", shownPath, ["layer-out"], { ...call, shownPath }), Number.MAX_SAFE_INTEGER);
  }

  #run(
    action: string,
    path: GuestPath,
    argv: readonly GuestPath[],
    { signal, shownPath, stallMs }: FileCall,
    more: Pick<BuiltinCall, "input" | "namesMember" | "walks"> = {},
  ): AsyncGenerator<ContentRecord, void, undefined> {
    const shown = shownPath ?? (typeof path === "string" ? path : Buffer.from(path).toString("utf8"));
    return runBuiltin(this.#client, { argv, user: this.#user, action, path: shown, signal, stallMs, ...more });
  }

  async #finish(records: AsyncGenerator<ContentRecord, void, undefined>): Promise<number> {
    let bytes = 0;
    for await (const record of records) {
      if (record.kind !== "done") throw protocolError(`a ${record.kind} record as an answer`);
      bytes = record.bytes;
    }
    return bytes;
  }

  /**
   * The guest is asked for one more than the maximum, so that a list that was cut is told from a full one.
   * SECURITY: it is not trusted to keep to that (G-10).
   */
  async #collect<Item extends { readonly path: string; readonly linkTarget?: string | null }>(
    records: AsyncGenerator<ContentRecord, void, undefined>,
    max: number,
    pick: (record: ContentRecord) => Item | undefined,
  ): Promise<Item[]> {
    const found: Item[] = [];
    let bytes = 0;
    for await (const record of records) {
      if (record.kind === "done") continue;
      const item = pick(record);
      if (item === undefined) throw protocolError(`a ${record.kind} record in a list`);
      // SECURITY: a control character has six bytes when it is told (G-25)
      bytes += jsonBytes(item.path) + jsonBytes(item.linkTarget ?? "");
      if (found.length >= max || bytes > MAX_LIST_BYTES) {
        throw failure("TOO_MANY_ENTRIES", `There are more than ${max} entries, or their names are too long together`);
      }
      found.push(item);
    }
    return found;
  }
}

const pickEntry = (record: ContentRecord) => (record.kind === "entry" ? record.entry : undefined);
const pickChangeOrFolder = (record: ContentRecord): FileChange | GuestEntry | undefined =>
  record.kind === "change" ? record.change : pickEntry(record);

function* encodeAsked(asked: readonly ChangesAsked[]): Generator<Buffer> {
  for (const { manner, path } of asked) yield encodeChangesAsked(manner, Buffer.from(path as string));
  yield encodeDone(0);
}

/** Passes everything on, and tells what the last record says. */
async function* countingDone(
  records: AsyncGenerator<ContentRecord, void, undefined>,
  tell: (count: number) => void,
): AsyncGenerator<ContentRecord, void, undefined> {
  for await (const record of records) {
    if (record.kind === "done") tell(record.bytes);
    yield record;
  }
}

async function* contentOf(
  records: AsyncGenerator<ContentRecord, void, undefined>,
  max: number,
): AsyncGenerator<Buffer, void, undefined> {
  let left = max;
  for await (const record of records) {
    if (record.kind === "done") continue;
    if (record.kind !== "bytes") throw protocolError(`a ${record.kind} record within a file`);
    left -= record.data.length;
    // SECURITY: a caller's cap holds whatever the guest sends (G-10)
    if (left < 0) throw protocolError("more content than asked for");
    yield record.data;
  }
}
