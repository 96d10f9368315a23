import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 };
const WHO = "Review Agent <agent@example.com> 1700000000 +0000";

/** An object of git's as somebody wrote it who need not care what git thinks of it. */
export interface GitObject {
  readonly type: keyof typeof TYPES;
  readonly content: Buffer;
  /** Another size than its own, in its head. */
  readonly claimed?: number;
}

export const idOf = ({ type, content }: GitObject): string =>
  createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");

/** A pack with these objects in it; `count` is what it says of itself. */
export function packOf(objects: readonly GitObject[], count = objects.length): Buffer {
  const head = Buffer.alloc(12);
  head.write("PACK");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const parts = objects.flatMap(({ type, content, claimed = content.length }) => {
    const bytes = [(TYPES[type] << 4) | (claimed & 15)];
    for (let rest = Math.floor(claimed / 16); rest > 0; rest = Math.floor(rest / 128)) {
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
      bytes.push(rest & 127);
    }
    return [Buffer.from(bytes), deflateSync(content)];
  });
  const all = Buffer.concat([head, ...parts]);
  return Buffer.concat([all, createHash("sha1").update(all).digest()]);
}

export const blobOf = (text: string | Buffer): GitObject => ({ type: "blob", content: Buffer.from(text) });

export const treeOf = (...entries: readonly (readonly [mode: string, name: string, id: string])[]): GitObject => ({
  type: "tree",
  content: Buffer.concat(
    entries.map(([mode, name, id]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")])),
  ),
});

export const commitOf = (tree: GitObject, parents: readonly string[] = [], message = "a change\n"): GitObject => ({
  type: "commit",
  content: Buffer.from(
    [
      `tree ${idOf(tree)}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${WHO}`,
      `committer ${WHO}`,
      "",
      message,
    ].join("\n"),
  ),
});

export const tagOf = (commit: GitObject, name: string, message: string): GitObject => ({
  type: "tag",
  content: Buffer.from(`object ${idOf(commit)}\ntype commit\ntag ${name}\ntagger ${WHO}\n\n${message}`),
});

/** A pack with one object of four bytes, and a delta that says that it makes 64 GiB of it. */
export function deltaBomb(base: GitObject): Buffer {
  const claims = Buffer.from([base.content.length, 128, 128, 128, 128, 128, 2]);
  const head = Buffer.from([(7 << 4) | claims.length]);
  const delta = Buffer.concat([head, Buffer.from(idOf(base), "hex"), deflateSync(claims)]);
  const all = Buffer.concat([packOf([base], 2).subarray(0, -20), delta]);
  return Buffer.concat([all, createHash("sha1").update(all).digest()]);
}
