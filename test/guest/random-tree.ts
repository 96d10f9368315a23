import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { createTreeItem, type TreeChange, type TreeItem } from "../../src/guest/files.ts";

/** A member that goes in, with its content in the pieces that its producer has. */
export interface Member {
  readonly type: "file" | "directory" | "symlink";
  /** Bytes as latin1, so that they can be compared and printed. */
  readonly path: string;
  readonly mode: number;
  readonly mtimeNs: bigint;
  readonly target: string;
  readonly pieces: readonly number[];
}

/** What there is, by path: everything that is promised to be the same on both sides. */
export type Picture = Map<string, string>;

const bytesOf = (path: string) => Buffer.from(path, "latin1");

/** Content that differs from place to place, so that a lost or doubled piece shows. */
function contentOf(pieces: readonly number[]): Buffer {
  const content = Buffer.alloc(pieces.reduce((sum, length) => sum + length, 0));
  for (let at = 0; at < content.length; at++) content[at] = (at * 7 + (at >> 8) * 13 + pieces.length) & 0xff;
  return content;
}

async function* inPieces({ pieces }: Member): AsyncGenerator<Uint8Array> {
  const content = contentOf(pieces);
  let at = 0;
  for (const length of pieces) yield await Promise.resolve(content.subarray(at, (at += length)));
}

export function toItem(member: Member): TreeChange {
  const { type, path, mode, mtimeNs, target } = member;
  const content = type === "file" ? inPieces(member) : undefined;
  return createTreeItem({ type, path: bytesOf(path), mode, mtimeNs, linkTarget: bytesOf(target), content });
}

export const toRemoval = (path: string): TreeChange => ({ type: "removal", path, pathBytes: bytesOf(path) });

const line = (type: string, mode: number, mtimeNs: bigint, content: string) =>
  `${type} ${mode.toString(8)} ${mtimeNs} ${content}`;

export const pictureOf = (members: readonly Member[]): Picture =>
  new Map(
    members.map(({ type, path, mode, mtimeNs, target, pieces }) => {
      if (type === "symlink") return [path, line(type, 0o777, mtimeNs, target)];
      return [path, line(type, mode, mtimeNs, type === "file" ? contentOf(pieces).toString("latin1") : "")];
    }),
  );

/** Of a folder of this host. */
export function pictureOnDisk(root: string, path = "", picture: Picture = new Map()): Picture {
  const host = (below: string) => Buffer.concat([Buffer.from(`${root}/`), bytesOf(below)]);
  for (const name of readdirSync(host(path), { encoding: "buffer" })) {
    const below = path === "" ? name.toString("latin1") : `${path}/${name.toString("latin1")}`;
    const stat = lstatSync(host(below), { bigint: true });
    const mode = Number(stat.mode & 0o7777n);
    if (stat.isDirectory()) {
      picture.set(below, line("directory", mode, stat.mtimeNs, ""));
      pictureOnDisk(root, below, picture);
    } else if (stat.isSymbolicLink())
      picture.set(below, line("symlink", mode, stat.mtimeNs, readlinkSync(host(below), "latin1")));
    else picture.set(below, line("file", mode, stat.mtimeNs, readFileSync(host(below), "latin1")));
  }
  return picture;
}

/** Of what comes out of a sandbox. */
export async function pictureOfItems(items: AsyncIterable<TreeItem>): Promise<Picture> {
  const picture: Picture = new Map();
  for await (const { type, pathBytes, mode, mtimeNs, linkTargetBytes, content } of items) {
    const parts: Uint8Array[] = [];
    for await (const part of content ?? []) parts.push(Buffer.from(part));
    const text = type === "symlink" ? linkTargetBytes : Buffer.concat(parts);
    if (pathBytes.length > 0)
      picture.set(pathBytes.toString("latin1"), line(type, mode, mtimeNs, text.toString("latin1")));
  }
  return picture;
}

/** Differing paths only: content of megabytes helps nobody. */
export function differences(one: Picture, other: Picture): string[] {
  const paths = [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
  const short = (text: string | undefined) => (text === undefined ? "nothing" : `${text.length}:${text.slice(0, 60)}`);
  return paths.slice(0, 5).map((path) => `${path}: ${short(one.get(path))} | ${short(other.get(path))}`);
}

export function makeOldFiles(folder: string, names: readonly string[], own: (path: string) => void): void {
  mkdirSync(folder);
  own(folder);
  for (const name of names) {
    writeFileSync(`${folder}/${name}`, "old");
    own(`${folder}/${name}`);
  }
}

const name = fc
  .oneof(
    fc.constantFrom("a", ".git", "-rf", "new\nline", " ", "\xff\xfe", "*", "caf\xc3\xa9", "x".repeat(255), "..."),
    fc
      .uint8Array({ minLength: 1, maxLength: 12 })
      .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 47 ? 95 : byte))).toString("latin1")),
  )
  .filter((text) => text !== "." && text !== "..");
/** Seconds of files that ext4 can hold, also before 1970. */
const mtimeNs = fc.bigInt({ min: -(2n ** 31n - 1n) * 10n ** 9n, max: 2n ** 33n * 10n ** 9n });
const around = (bytes: number) => fc.integer({ min: bytes - 2, max: bytes + 2 });
const tiny = fc.integer({ min: 0, max: 20 });
/** A batch is 64 KiB, and a piece from 16 KiB on leaves by itself. */
const anySize = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 100 }) },
  { weight: 2, arbitrary: around(16 * 1024) },
  { weight: 1, arbitrary: around(64 * 1024) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 1, arbitrary: around(256 * 1024) },
);
const anyTarget = fc.oneof(
  name,
  fc.integer({ min: 1, max: 4095 }).map((length) => "t".repeat(length)),
);

interface Draft {
  readonly name: string;
  readonly kind: "file" | "directory" | "symlink";
  /** Which of the folders so far it is in. */
  readonly folder: number;
  readonly mode: number;
  readonly mtimeNs: bigint;
  readonly target: string;
  readonly pieces: readonly number[];
}

const drafts = (count: number, piece: fc.Arbitrary<number>, target: fc.Arbitrary<string>): fc.Arbitrary<Draft[]> =>
  fc.array(
    fc.record({
      name,
      kind: fc.constantFrom("file", "file", "file", "directory", "symlink"),
      folder: fc.nat(),
      mode: fc.integer({ min: 0, max: 0o777 }),
      mtimeNs,
      target,
      pieces: fc.array(piece, { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: count, size: "max" },
  );

/** Members in the order of their sending; parents come first. What would be there twice is left out. */
function toMembers(all: readonly Draft[]): Member[] {
  const folders = [""];
  const taken = new Set<string>();
  return all.flatMap(({ name, kind, folder, mode, mtimeNs, target, pieces }): Member[] => {
    const parent = folders[folder % folders.length] ?? "";
    const path = parent === "" ? name : `${parent}/${name}`;
    if (taken.has(path) || path.length > 1000) return [];
    taken.add(path);
    if (kind === "directory") folders.push(path);
    return [
      {
        ...{ type: kind, path, mtimeNs },
        // What the user could not read could not come out again.
        mode: mode | (kind === "directory" ? 0o500 : 0o400),
        target: kind === "symlink" ? target : "",
        pieces: kind === "file" ? pieces : [],
      },
    ];
  });
}

/** Many tiny records, which leave together; and fewer of every size. */
export const randomTree: fc.Arbitrary<Member[]> = fc
  .oneof(drafts(4000, tiny, name), drafts(300, anySize, anyTarget))
  .map(toMembers);
