import { createHash } from "node:crypto";
import { splitLines } from "./line-diff.ts";
import { isBinary } from "./unified-diff.ts";

export interface RenameCandidate {
  readonly path: string;
  readonly type: "file" | "symlink";
  /** A link's is its target. Undefined when it is too large to be held; then it is no rename. */
  readonly content: Uint8Array | undefined;
}

export interface Rename<T> {
  readonly from: T;
  readonly to: T;
}

/** At most so many files of each side, each smaller than this, are compared by their lines. */
const MAX_FILES = 200;
const MAX_SIZE = 256 * 1024;
/** Bytes of each side, and lines looked at for all pairs together; they keep the worst case well below a second. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_LOOKUPS = 300_000;
/** Lines of each side: one costs far more than its bytes. */
const MAX_LINES = 100_000;
const MIN_SIMILARITY = 0.5;

/** Pairs a removed with an added file: first those of the same content, then the most similar texts, at least half the same. */
export function findRenames<T extends RenameCandidate>(added: readonly T[], deleted: readonly T[]): Rename<T>[] {
  const exact = exactRenames(added, deleted);
  const taken = new Set(exact.flatMap(({ from, to }) => [from, to]));
  const rest = (files: readonly T[]) => files.filter((file) => !taken.has(file));
  return [...exact, ...similarRenames(rest(added), rest(deleted))];
}

function exactRenames<T extends RenameCandidate>(added: readonly T[], deleted: readonly T[]): Rename<T>[] {
  const byContent = new Map<string, T[]>();
  for (const file of deleted) {
    const key = contentKey(file);
    if (key === undefined) continue;
    const same = byContent.get(key);
    if (same) same.push(file);
    else byContent.set(key, [file]);
  }
  const renames: Rename<T>[] = [];
  for (const to of added) {
    const key = contentKey(to);
    const same = key === undefined ? undefined : byContent.get(key);
    if (!same || same.length === 0) continue;
    const named = same.findIndex((file) => nameOf(file) === nameOf(to));
    const [from] = same.splice(Math.max(0, named), 1);
    if (from) renames.push({ from, to });
  }
  return renames;
}

/** Nothing for empty files: that two are empty does not make one the other. */
function contentKey({ type, content }: RenameCandidate): string | undefined {
  if (content === undefined || content.length === 0) return undefined;
  return `${type} ${createHash("sha256").update(content).digest("hex")}`;
}

interface Lines<T> {
  readonly file: T;
  readonly size: number;
  readonly counts: ReadonlyMap<string, number>;
}

function similarRenames<T extends RenameCandidate>(added: readonly T[], deleted: readonly T[]): Rename<T>[] {
  const news = indexed(added);
  const olds = indexed(deleted);
  const pairs: { from: T; to: T; score: number }[] = [];
  let lookups = 0;
  for (const to of news) {
    for (const from of olds) {
      const larger = Math.max(from.size, to.size);
      if (Math.min(from.size, to.size) < larger * MIN_SIMILARITY) continue;
      lookups += Math.min(from.counts.size, to.counts.size);
      if (lookups > MAX_LOOKUPS) return bestPairs(pairs);
      const score = commonSize(from, to) / larger;
      if (score < MIN_SIMILARITY) continue;
      pairs.push({ from: from.file, to: to.file, score: score + (nameOf(from.file) === nameOf(to.file) ? 0.01 : 0) });
    }
  }
  return bestPairs(pairs);
}

function indexed<T extends RenameCandidate>(files: readonly T[]): Lines<T>[] {
  const found: Lines<T>[] = [];
  let bytes = 0;
  let lines = 0;
  for (const file of files) {
    const { content, type } = file;
    if (type !== "file" || content === undefined || content.length === 0) continue;
    if (content.length >= MAX_SIZE || isBinary(content)) continue;
    if (found.length === MAX_FILES || (bytes += content.length) > MAX_BYTES) break;
    const split = splitLines(Buffer.from(content).toString("latin1"));
    if ((lines += split.length) > MAX_LINES) break;
    found.push({ file, size: content.length, counts: countLines(split) });
  }
  return found;
}

function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function commonSize<T>(a: Lines<T>, b: Lines<T>): number {
  const [fewer, more] = a.counts.size < b.counts.size ? [a.counts, b.counts] : [b.counts, a.counts];
  let size = 0;
  for (const [line, count] of fewer) size += line.length * Math.min(count, more.get(line) ?? 0);
  return size;
}

function bestPairs<T>(pairs: { from: T; to: T; score: number }[]): Rename<T>[] {
  const taken = new Set<T>();
  const renames: Rename<T>[] = [];
  for (const { from, to } of pairs.sort((a, b) => b.score - a.score)) {
    if (taken.has(from) || taken.has(to)) continue;
    taken.add(from).add(to);
    renames.push({ from, to });
  }
  return renames;
}

function nameOf({ path }: RenameCandidate): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
