import type { FileChange, FileFound, GuestFiles } from "../../guest/files.ts";

/** What is larger is compared piece by piece. */
const MAX_AT_ONCE_BYTES = 1024 * 1024;

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
  /** Those that both have changed, and that may be the same all the same. */
  const doubtful: FileChange[] = [];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const one = old.get(name);
    const other = fresh.get(name);
    const known = one ?? other;
    if (!known) continue;
    // What only one has changed is in the other as it was in common.
    const was = one ? newOf(one) : other && oldOf(other);
    const is = other ? newOf(other) : one && oldOf(one);
    const change = changeOf(known, was, is);
    if (!change) continue;
    merged.push(change);
    if (one && other && change.status === "modified" && maybeSame(change)) doubtful.push(change);
  }
  const same = await findSame(before.files, now.files, doubtful);
  return merged.filter((change) => !same.has(change));
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

const maybeSame = ({ newType, newSize, oldSize, newMode, oldMode }: FileChange): boolean =>
  newType !== "other" && newSize === oldSize && (newMode === oldMode || newType === "symlink");

/** Of these, what both have the same. What cannot be read cannot be shown to be the same. */
async function findSame(
  before: GuestFiles,
  now: GuestFiles,
  changes: readonly FileChange[],
): Promise<ReadonlySet<FileChange>> {
  const isKnown = ({ newType, newSize }: FileChange) =>
    newType === "directory" || (newType === "file" && newSize === 0);
  const same = new Set(changes.filter(isKnown));
  const small = changes.filter((change) => !same.has(change) && change.newSize <= MAX_AT_ONCE_BYTES);
  const wanted = small.map(({ pathBytes: path }) => ({ path, maxBytes: MAX_AT_ONCE_BYTES }));
  const theirs = now.readMany("workspace", wanted);
  try {
    let at = 0;
    for await (const one of before.readMany("workspace", wanted)) {
      const other = await theirs.next();
      const change = small[at++];
      if (change && other.done !== true && areSame(one, other.value)) same.add(change);
    }
  } finally {
    await theirs.return();
  }
  for (const change of changes) {
    if (change.newSize <= MAX_AT_ONCE_BYTES || change.newType !== "file") continue;
    if (await haveSameContent(before, now, change.pathBytes).catch(() => false)) same.add(change);
  }
  return same;
}

function areSame(one: FileFound, other: FileFound): boolean {
  if (!("content" in one) || !("content" in other) || one.entry.type !== other.entry.type) return false;
  return one.content.equals(other.content) && one.entry.linkTargetBytes.equals(other.entry.linkTargetBytes);
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
