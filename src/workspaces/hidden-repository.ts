import { failure } from "../model/error-codes.ts";
import type { ByteText } from "../policy/byte-text.ts";

/** What git takes for a repository has these, whatever the folder is called: HEAD, and its objects or where they are. */
const PARTS: ReadonlyMap<string, number> = new Map([
  ["head", 1],
  ["objects", 2],
  ["commondir", 2],
]);
const WHOLE = 3;

/** The same names, as git looks for them. */
export const REPOSITORY_PARTS = ["HEAD", "objects", "commondir"] as const;

/** Folders that git takes for a repository though they are not called `.git`, as their parts come up. */
export class HiddenRepositories {
  readonly #found = new Map<ByteText, number>();

  /** The folder that a path is in, when that makes it a repository or is in one as a part. */
  add(path: ByteText): ByteText | undefined {
    const slash = path.lastIndexOf("/");
    const part = path === "" ? undefined : PARTS.get(path.slice(slash + 1).toLowerCase());
    if (part === undefined) return undefined;
    const folder = path.slice(0, Math.max(0, slash));
    const parts = (this.#found.get(folder) ?? 0) | part;
    this.#found.set(folder, parts);
    return parts === WHOLE ? folder : undefined;
  }
}

/**
 * The same items, without a folder that git takes for a repository though it is not called `.git`.
 * SECURITY: a git command in such a folder, or below it, runs what its configuration says (G-23)
 */
export async function* refuseRepositories<Item extends { readonly pathBytes: Buffer }>(
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const found = new HiddenRepositories();
  for await (const item of items) {
    const folder = found.add(item.pathBytes.toString("latin1"));
    if (folder !== undefined) throw isRepository(Buffer.from(folder, "latin1").toString("utf8"));
    yield item;
  }
}

function isRepository(folder: string): Error {
  const what = folder === "" ? "it" : `"${folder}"`;
  return failure("HOST_ACCESS_REFUSED", `Cannot export: ${what} would be a git repository, which runs what it says`, {
    hint: "Export what is in it one by one; or the operator exports it with `cloche workspace export`",
  });
}
