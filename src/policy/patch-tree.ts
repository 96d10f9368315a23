import { failure } from "../model/error-codes.ts";
import type { ChangeStatus } from "../model/files.ts";
import { applyHunks } from "./apply-hunks.ts";
import { quoted, type ByteText } from "./byte-text.ts";
import type { FilePatch } from "./file-patch.ts";
import { describeDifference, rejected } from "./patch-rejected.ts";
import { splitLines } from "./line-diff.ts";

/** A file or link as it is or will be; the content of a link is its target. */
export interface FileState {
  readonly type: "file" | "symlink";
  /** Permission bits. */
  readonly mode: number;
  readonly content: ByteText;
}

export interface PatchedFile {
  readonly path: ByteText;
  readonly status: ChangeStatus;
  readonly oldPath?: ByteText;
}

export interface PatchedTree {
  /** What changed, in the order of the patch. */
  readonly files: readonly PatchedFile[];
  /** Paths that are other than before; undefined for those that are gone. */
  readonly states: ReadonlyMap<ByteText, FileState | undefined>;
}

/** Every path that a patch reads or writes. */
export function pathsOf(patches: readonly FilePatch[]): Set<ByteText> {
  return new Set(patches.flatMap(({ oldPath, path }) => [oldPath, path]));
}

/** What is there after the patches; nothing is changed in place. Throws when any of them does not apply. */
export function patchTree(
  patches: readonly FilePatch[],
  before: ReadonlyMap<ByteText, FileState | undefined>,
): PatchedTree {
  const tree = new PatchedPaths(before, patches);
  for (const [at, patch] of patches.entries()) tree.apply(patch, at);
  return tree.finish();
}

class PatchedPaths {
  readonly #before: ReadonlyMap<ByteText, FileState | undefined>;
  readonly #now: Map<ByteText, FileState | undefined>;
  /** Paths that have a new file already, though the patch has yet to tell where the first one goes. */
  readonly #displaced = new Set<ByteText>();
  /** Where a path's file came from by a rename. */
  readonly #origin = new Map<ByteText, ByteText>();
  /** The last patch that takes the file of a path away. */
  readonly #leaving = new Map<ByteText, number>();

  constructor(before: ReadonlyMap<ByteText, FileState | undefined>, patches: readonly FilePatch[]) {
    this.#before = before;
    this.#now = new Map(before);
    for (const [at, { kind, oldPath }] of patches.entries()) {
      if (kind === "delete" || kind === "rename") this.#leaving.set(oldPath, at);
    }
  }

  apply(patch: FilePatch, at: number): void {
    const { kind, path, oldPath } = patch;
    switch (kind) {
      case "add":
        this.#place(patch, at, patched(patch, emptyState(patch.newMode)));
        break;
      case "modify":
        this.#now.set(path, patched(patch, this.#existing(path)));
        break;
      case "delete":
        checkEmptied(patch, patched(patch, this.#take(path)));
        break;
      case "rename": {
        const displaced = this.#displaced.has(oldPath);
        const source = this.#take(oldPath);
        const first = displaced ? oldPath : (this.#origin.get(oldPath) ?? oldPath);
        if (!displaced) this.#origin.delete(oldPath);
        this.#place(patch, at, patched(patch, source));
        if (first !== path) this.#origin.set(path, first);
        break;
      }
      case "copy":
        // git compares with the tree before all changes; a series of patches may have made the source only now
        this.#place(patch, at, patched(patch, this.#before.get(oldPath) ?? this.#existing(oldPath)));
        break;
    }
  }

  finish(): PatchedTree {
    const changed = [...this.#now].filter(([path, now]) => !isSame(now, this.#before.get(path)));
    const states = new Map(changed);
    this.#checkNesting(states);
    const files = changed.flatMap(([path]) => this.#describe(path, states) ?? []);
    return { files, states };
  }

  #existing(path: ByteText): FileState {
    const state = this.#now.get(path);
    if (!state) throw rejected(path, "it does not exist");
    return state;
  }

  /**
   * Takes a file away. The patch of a whole tree may put a new file at a path before it tells where the old one went; then it is the old one
   * that is meant.
   */
  #take(path: ByteText): FileState {
    const first = this.#before.get(path);
    if (first && this.#displaced.delete(path)) return first;
    const state = this.#existing(path);
    this.#now.set(path, undefined);
    return state;
  }

  #place({ kind, path }: FilePatch, at: number, state: FileState): void {
    const there = this.#now.get(path);
    if (there) {
      const leaves = there === this.#before.get(path) && (this.#leaving.get(path) ?? -1) > at;
      if (!leaves) throw rejected(path, kind === "add" ? "it exists" : `the target of the ${kind} exists`);
      this.#displaced.add(path);
    }
    this.#now.set(path, state);
  }

  #describe(path: ByteText, states: PatchedTree["states"]): PatchedFile | undefined {
    const [before, now] = [this.#before.get(path), states.get(path)];
    const oldPath = this.#origin.get(path);
    if (now && oldPath !== undefined) return { path, status: "renamed", oldPath };
    if (!before) return { path, status: "added" };
    if (now) return { path, status: before.type === now.type ? "modified" : "type_changed" };
    const moved = [...this.#origin].some(([target, from]) => from === path && this.#now.get(target));
    return moved ? undefined : { path, status: "deleted" };
  }

  /** SECURITY: a link that a patch makes is never a folder on the way to another file of it (G-11). */
  #checkNesting(states: PatchedTree["states"]): void {
    for (const [path, state] of states) {
      if (!state) continue;
      for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
        const folder = path.slice(0, slash);
        if (this.#now.get(folder)) throw rejected(path, `${quoted(folder)} is no folder`);
      }
    }
  }
}

const typeOf = (mode: FilePatch["newMode"]): FileState["type"] => (mode === "120000" ? "symlink" : "file");

const emptyState = (mode: FilePatch["newMode"]): FileState => ({
  type: typeOf(mode),
  mode: mode === "120000" ? 0o777 : 0o644,
  content: "",
});

/** The state that the hunks and modes of a patch make of another. */
function patched(patch: FilePatch, state: FileState): FileState {
  checkType(patch, state);
  const content = patchedContent(patch, state.content);
  if (state.type === "symlink") {
    if (content === "" && patch.kind !== "delete") {
      throw failure("PATCH_INVALID", `The patch makes ${quoted(patch.path)} a symlink without a target`);
    }
    return { ...state, content };
  }
  return { ...state, content, mode: patchedMode(state.mode, patch.newMode) };
}

function checkType({ path, oldPath, kind, oldMode, newMode, hunks }: FilePatch, { type }: FileState): void {
  if (kind === "add") return;
  // A pure rename tells no mode
  if (oldMode === undefined && newMode === undefined && hunks.length === 0) return;
  const [wanted, result] = [typeOf(oldMode ?? newMode), typeOf(newMode ?? oldMode)];
  if (wanted === type && result === type) return;
  const reason = wanted === type ? "a file and a symlink do not become each other" : `it is a ${type}`;
  throw failure("FILE_WRONG_TYPE", `Cannot patch ${quoted(kind === "copy" ? oldPath : path)}: ${reason}`);
}

function patchedContent({ hunks, crlfHunks, oldPath }: FilePatch, content: ByteText): ByteText {
  if (!crlfHunks) return applyHunks(content, hunks, oldPath);
  try {
    return applyHunks(content, hunks, oldPath);
  } catch (error) {
    // The CRLF of the patch's lines may be that of the file's.
    try {
      return applyHunks(content, crlfHunks, oldPath);
    } catch {
      throw error;
    }
  }
}

/** Git knows one bit, whether a file can be run. With it everybody who may read the file may run it, without it nobody; all other bits stay. */
function patchedMode(mode: number, newMode: FilePatch["newMode"]): number {
  if (newMode === undefined || newMode === "120000") return mode;
  return newMode === "100644" ? mode & ~0o111 : mode | ((mode & 0o444) >> 2);
}

function checkEmptied({ path, hunks }: FilePatch, { content }: FileState): void {
  if (content === "") return;
  const difference = { hunk: hunks.at(-1)?.header ?? "", expected: undefined, found: splitLines(content)[0] };
  throw rejected(path, `it has more than the patch deletes: ${describeDifference(difference)}`, difference);
}

function isSame(one: FileState | undefined, other: FileState | undefined): boolean {
  if (!one || !other) return one === other;
  return one.type === other.type && one.mode === other.mode && one.content === other.content;
}
