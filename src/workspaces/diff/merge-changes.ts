import type { FileChange, GuestFiles } from "../../guest/files.ts";

/** What a sandbox has changed about a state that it has in common with another. */
interface Branch {
  readonly files: GuestFiles;
  readonly changes: readonly FileChange[];
}

/** One thing of a state; undefined where there is none. */
interface Thing {
  readonly type: NonNullable<FileChange["newType"]>;
  readonly mode: number;
  readonly size: number;
}

/** How one state differs from another, by what each changes about a third that both stand on. */
export async function mergeChanges(before: Branch, now: Branch): Promise<FileChange[]> {
  const old = byName(before.changes);
  const fresh = byName(now.changes);
  const merged: FileChange[] = [];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const one = old.get(name);
    const other = fresh.get(name);
    const known = one ?? other;
    if (!known) continue;
    // What only one has changed is in the other as it was in common.
    const was = one ? newOf(one) : other && oldOf(other);
    const is = other ? newOf(other) : one && oldOf(one);
    const change = changeOf(known, was, is);
    const isOwn = !one || !other;
    if (change && (isOwn || change.status !== "modified" || !(await isSame(before.files, now.files, change))))
      merged.push(change);
  }
  return merged;
}

const byName = (changes: readonly FileChange[]): Map<string, FileChange> =>
  new Map(changes.map((change) => [change.pathBytes.toString("latin1"), change]));

const newOf = ({ newType: type, newMode: mode, newSize: size }: FileChange): Thing | undefined =>
  type && { type, mode, size };
const oldOf = ({ oldType: type, oldMode: mode, oldSize: size }: FileChange): Thing | undefined =>
  type && { type, mode, size };

/** Folders come and go with what is in them. */
function changeOf(known: FileChange, was: Thing | undefined, is: Thing | undefined): FileChange | undefined {
  const status = !was ? "added" : !is ? "deleted" : was.type === is.type ? "modified" : "type_changed";
  if ((was ?? is)?.type === "directory" && !(was && is)) return undefined;
  if (!was && !is) return undefined;
  return {
    ...known,
    status,
    newType: is?.type,
    newMode: is?.mode ?? 0,
    newSize: is?.size ?? 0,
    oldType: was?.type,
    oldMode: was?.mode ?? 0,
    oldSize: was?.size ?? 0,
  };
}

/** Whether both have the same at a path that both have changed. What cannot be read cannot be shown to be the same. */
async function isSame(before: GuestFiles, now: GuestFiles, change: FileChange): Promise<boolean> {
  const { pathBytes: path, newType, newSize, oldSize, newMode, oldMode } = change;
  if (newSize !== oldSize || (newMode !== oldMode && newType !== "symlink")) return false;
  try {
    if (newType === "symlink") {
      const [one, other] = await Promise.all([before.stat("workspace", path), now.stat("workspace", path)]);
      return one.linkTargetBytes.equals(other.linkTargetBytes);
    }
    if (newType !== "file") return newType === "directory";
    return newSize === 0 || (await haveSameContent(before, now, path));
  } catch {
    return false;
  }
}

async function haveSameContent(before: GuestFiles, now: GuestFiles, path: Buffer): Promise<boolean> {
  const [one, other] = await Promise.all([before.read("workspace", path), now.read("workspace", path)]);
  const rest = other.chunks[Symbol.asyncIterator]();
  const theirs = new Pieces(rest);
  try {
    for await (const piece of one.chunks) if (!(await theirs.startWith(piece))) return false;
    return await theirs.areOver();
  } finally {
    await rest.return?.();
  }
}

/** Content that comes in pieces of any size. */
class Pieces {
  readonly #rest: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(rest: AsyncIterator<Buffer>) {
    this.#rest = rest;
  }

  /** Takes as much as is asked for. */
  async startWith(piece: Buffer): Promise<boolean> {
    for (let at = 0; at < piece.length;) {
      if (this.#held.length === 0 && (await this.areOver())) return false;
      const count = Math.min(piece.length - at, this.#held.length);
      if (!piece.subarray(at, at + count).equals(this.#held.subarray(0, count))) return false;
      this.#held = this.#held.subarray(count);
      at += count;
    }
    return true;
  }

  async areOver(): Promise<boolean> {
    while (this.#held.length === 0) {
      const next = await this.#rest.next();
      if (next.done === true) return true;
      this.#held = next.value;
    }
    return false;
  }
}
