import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { failure } from "../model/error-codes.ts";

/** Bytes that are free where a path is to be; undefined when nobody can tell. */
export function roomFor(path: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return undefined; // a folder that is not there is refused with its own words
  }
}

/** A sparse file is small in the sandbox and may be larger than the host's whole disk: it is refused before the first byte is written. */
export async function* withinRoom<Item extends { readonly size: number; readonly type: string }>(
  items: AsyncIterable<Item>,
  room: number | undefined,
): AsyncGenerator<Item> {
  let left = room ?? Infinity;
  for await (const item of items) {
    if (item.type === "file") left -= item.size;
    if (left < 0) throw noRoom("export", room ?? 0);
    yield item;
  }
}

export const noRoom = (verb: string, room: number): Error =>
  failure("FILE_TOO_LARGE", `Cannot ${verb}: it is larger than the ${room} bytes that are free there`, {
    hint: `Try to ${verb} a folder or file further down, or to a larger disk`,
  });
