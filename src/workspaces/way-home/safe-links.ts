import { lstatSync, readlinkSync } from "node:fs";
import type { ByteText } from "../../policy/byte-text.ts";
import type { HomeChange } from "../../policy/way-home/bring-home.ts";
import { leadsIntoGit } from "../../policy/way-home/git-names.ts";
import { ExportLinks } from "../export-links.ts";
import { foldersAbove } from "../read-named-files.ts";
import { inCheckout } from "./host-states.ts";

/** A tree that links come into: the files that are there, or those of a commit. */
export interface LinkedTree {
  isFolder(path: ByteText): boolean;
  /** Where a link leads; undefined for what is none. */
  linkAt(path: ByteText): ByteText | undefined;
}

/** What is really there, whether git knows of it or not. */
export function treeOnDisk(top: string): LinkedTree {
  const look = (path: ByteText) => {
    try {
      return lstatSync(inCheckout(top, path), { throwIfNoEntry: false });
    } catch {
      return undefined; // below a file there is nothing, and what cannot be seen cannot be walked
    }
  };
  return {
    isFolder: (path) => look(path)?.isDirectory() === true,
    linkAt: (path) =>
      look(path)?.isSymbolicLink() === true
        ? readlinkSync(inCheckout(top, path), "buffer").toString("latin1")
        : undefined,
  };
}

const targetOf = ({ after }: HomeChange): ByteText | undefined =>
  after?.type === "symlink" ? after.content.toString("latin1") : undefined;

/**
 * Changes that are links which lead out of the checkout, or into git's own folder, and why they stay away.
 * SECURITY: who writes to such a link on the host later writes elsewhere. Asked as the kernel would walk it there: through links that the tree has and that no change takes away (G-79)
 */
export async function unsafeLinks(
  changes: readonly HomeChange[],
  trees: readonly LinkedTree[],
): Promise<ReadonlyMap<HomeChange, string>> {
  const unsafe = new Map<HomeChange, string>();
  for (const change of changes) {
    const target = targetOf(change);
    if (target !== undefined && (target === "" || target.includes("\0") || leadsIntoGit(target)))
      unsafe.set(change, "it is a link into git's own folder, or to nothing");
  }
  // One that stays away leaves what it would have replaced, which others may lead through.
  for (let known = -1; known < unsafe.size;) {
    known = unsafe.size;
    for (const tree of trees) {
      const coming = changes.filter((change) => !unsafe.has(change));
      for (const change of await leadingOut(coming, tree))
        unsafe.set(change, "it is a link that leads out of the checkout");
    }
  }
  return unsafe;
}

async function leadingOut(changes: readonly HomeChange[], tree: LinkedTree): Promise<HomeChange[]> {
  const fresh = new Map(changes.filter((one) => targetOf(one) !== undefined).map((one) => [one.path, one]));
  if (fresh.size === 0) return [];
  const changed = new Set(changes.map(({ path }) => path));
  const folders = new Set(changes.flatMap(({ path, after }) => (after ? foldersAbove(path) : [])));
  const links = new ExportLinks(
    (path) => folders.has(path) || tree.isFolder(path),
    (path) => {
      const target = changed.has(path) ? undefined : tree.linkAt(path);
      return target !== undefined && leadsIntoGit(target) ? "/" : target;
    },
  );
  for (const [path, change] of fresh) links.add(path, targetOf(change) ?? "");
  const found: HomeChange[] = [];
  for await (const { path } of links.leadingOut()) {
    const change = fresh.get(path);
    if (change) found.push(change);
  }
  return found;
}
