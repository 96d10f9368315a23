import { failure } from "../model/error-codes.ts";

/** What git takes for a repository has these, whatever the folder is called: HEAD, and its objects or where they are. */
const PARTS: ReadonlyMap<string, number> = new Map([
  ["head", 1],
  ["objects", 2],
  ["commondir", 2],
]);
const WHOLE = 3;

/**
 * The same items, without a folder that git takes for a repository though it is not called `.git`.
 * SECURITY: a git command in such a folder, or below it, runs what its configuration says (G-23)
 */
export async function* refuseRepositories<Item extends { readonly pathBytes: Buffer }>(
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const found = new Map<string, number>();
  for await (const item of items) {
    const path = item.pathBytes.toString("latin1");
    const slash = path.lastIndexOf("/");
    const part = path === "" ? undefined : PARTS.get(path.slice(slash + 1).toLowerCase());
    if (part !== undefined) {
      const folder = path.slice(0, Math.max(0, slash));
      const parts = (found.get(folder) ?? 0) | part;
      if (parts === WHOLE) throw isRepository(Buffer.from(folder, "latin1").toString("utf8"));
      found.set(folder, parts);
    }
    yield item;
  }
}

function isRepository(folder: string): Error {
  const what = folder === "" ? "it" : `"${folder}"`;
  return failure("HOST_ACCESS_REFUSED", `Cannot export: ${what} would be a git repository, which runs what it says`, {
    hint: "Export what is in it one by one; or the operator exports it with `cloche workspace export`",
  });
}
