import { constants } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { createTreeItem, type TreeItem } from "../guest/files.ts";

const PIECE_BYTES = 256 * 1024;

export interface HostTreeOptions {
  /** The name of something at the top that is left out. */
  readonly skipTop?: string | undefined;
  /** The name that the one thing at the top gets. */
  readonly topName?: string | undefined;
}

/** A tree of the host on its way into a sandbox. Names are bytes: they need not be UTF-8. */
export class HostTree {
  readonly #root: Buffer;
  readonly #skipTop: Buffer | undefined;
  readonly #topName: Buffer | undefined;
  #count = 0;

  constructor(root: string, { skipTop, topName }: HostTreeOptions = {}) {
    this.#root = Buffer.from(root);
    this.#skipTop = skipTop === undefined ? undefined : Buffer.from(skipTop);
    this.#topName = topName === undefined ? undefined : Buffer.from(topName);
  }

  /** Files and links so far. */
  get count(): number {
    return this.#count;
  }

  /** Parents first, sorted by bytes in each folder. */
  async *items(): AsyncGenerator<TreeItem> {
    yield* this.#below(Buffer.alloc(0));
  }

  async *#below(folder: Buffer): AsyncGenerator<TreeItem> {
    const names = await readdir(joined(this.#root, folder), { encoding: "buffer" });
    for (const name of names.sort((one, other) => one.compare(other))) {
      if (folder.length === 0 && this.#skipTop?.equals(name)) continue;
      const path = joined(folder, name);
      const host = joined(this.#root, path);
      const stat = await lstat(host, { bigint: true });
      const entry = {
        path: (folder.length === 0 && this.#topName) || path,
        mode: Number(stat.mode & 0o777n),
        mtimeNs: stat.mtimeNs,
      };
      if (stat.isDirectory()) {
        yield createTreeItem({ ...entry, type: "directory" });
        yield* this.#below(path);
        continue;
      }
      if (!stat.isFile() && !stat.isSymbolicLink()) continue;
      this.#count += 1;
      yield stat.isSymbolicLink()
        ? createTreeItem({ ...entry, type: "symlink", linkTarget: await readlink(host, { encoding: "buffer" }) })
        : createTreeItem({
            ...entry,
            type: "file",
            size: Number(stat.size),
            content: contentOf(host, Number(stat.size)),
          });
    }
  }
}

/** To its end; `size` saves the read that would find it. */
async function* contentOf(path: Buffer, size: number): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // A new one for each piece, since what was given away may wait to be sent.
    const readPiece = () => file.read({ buffer: Buffer.allocUnsafe(PIECE_BYTES) });
    let piece = size > 0 ? readPiece() : undefined;
    for (let done = 0; piece;) {
      const { bytesRead, buffer } = await piece;
      if (bytesRead === 0) return;
      done += bytesRead;
      piece = done < size ? readPiece() : undefined; // while this one is sent
      piece?.catch(() => undefined); // told when it is its turn, if it comes to that
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function joined(folder: Buffer, name: Buffer): Buffer {
  if (folder.length === 0) return name;
  return name.length === 0 ? folder : Buffer.concat([folder, Buffer.from("/"), name]);
}
