import { Header, Pax } from "tar";
import type { TreeItem } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import { AGENT } from "../model/names.ts";

const BLOCK = 512;
const TYPES = { file: "File", directory: "Directory", symlink: "SymbolicLink" } as const;

/** A tree out of a sandbox as a tar archive, below `workspace/`. The library writes the headers; the content passes through. */
export async function* tarBytes(items: AsyncIterable<TreeItem>): AsyncGenerator<Uint8Array> {
  for await (const item of items) {
    if (item.type !== "file" && item.type !== "directory" && item.type !== "symlink") continue;
    const path =
      ["workspace", ...(item.path === "" ? [] : [item.path])].join("/") + (item.type === "directory" ? "/" : "");
    const fields = {
      path,
      mode: item.mode & 0o777,
      uid: AGENT.uid,
      gid: AGENT.gid,
      uname: AGENT.name,
      gname: AGENT.name,
      size: item.type === "file" ? item.size : 0,
      mtime: new Date(Number(item.mtimeNs / 1_000_000n)),
      type: TYPES[item.type],
      ...(item.type === "symlink" && { linkpath: item.linkTarget ?? "" }),
    };
    const header = new Header(fields);
    // Names that do not fit go into an extended header before.
    if (header.encode()) yield Buffer.from(new Pax(fields).encode());
    if (header.block) yield header.block;
    if (item.content === undefined) continue;
    let written = 0;
    for await (const chunk of item.content) {
      written += chunk.length;
      // SECURITY: what is more than the header says would be read as headers (G-10)
      if (written > item.size) throw wrongSize(item, "more");
      yield chunk;
    }
    if (written < item.size) throw wrongSize(item, "fewer");
    yield Buffer.alloc((BLOCK - (written % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

const wrongSize = (item: TreeItem, than: string): Error =>
  failure("GUEST_PROTOCOL", `Cannot export "${item.path}": it has ${than} bytes than were announced`);
