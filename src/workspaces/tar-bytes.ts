import { isUtf8 } from "node:buffer";
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
    // Names that do not fit go into an extended header before; that one is UTF-8, so what is none goes as bytes, as GNU tar has it.
    const needsMore = header.encode();
    if (!isUtf8(item.pathBytes) || !isUtf8(item.linkTargetBytes)) {
      const slash = item.type === "directory" ? "/" : "";
      yield longName(
        "NextFileHasLongPath",
        Buffer.concat([Buffer.from("workspace/"), item.pathBytes, Buffer.from(slash)]),
      );
      if (item.type === "symlink") yield longName("NextFileHasLongLinkpath", item.linkTargetBytes);
    } else if (needsMore) yield Buffer.from(new Pax(fields).encode());
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

function longName(type: "NextFileHasLongPath" | "NextFileHasLongLinkpath", name: Buffer): Buffer {
  const size = name.length + 1;
  const header = new Header({ path: "././@LongLink", type, size, mode: 0, uid: 0, gid: 0, mtime: new Date(0) });
  header.encode();
  return Buffer.concat([header.block ?? Buffer.alloc(0), name, Buffer.alloc(1 + ((BLOCK - (size % BLOCK)) % BLOCK))]);
}

const wrongSize = (item: TreeItem, than: string): Error =>
  failure("GUEST_PROTOCOL", `Cannot export "${item.path}": it has ${than} bytes than were announced`);
