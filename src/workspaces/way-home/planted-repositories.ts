import { lstatSync } from "node:fs";
import type { ByteText } from "../../policy/byte-text.ts";
import type { HomeChange } from "../../policy/way-home/bring-home.ts";
import { HiddenRepositories, REPOSITORY_PARTS } from "../hidden-repository.ts";
import { foldersAbove } from "../read-named-files.ts";
import { inCheckout } from "./host-states.ts";

/**
 * Changes in a folder that git would take for a repository, by what they bring and what the checkout has.
 * SECURITY: a git command in such a folder, or below it, runs what its configuration says (G-141). The top needs no look: its own `.git` comes first
 */
export function inHiddenRepositories(
  changes: readonly HomeChange[],
  checkout: { readonly path: string; readonly files: Iterable<ByteText> },
): ReadonlySet<HomeChange> {
  const hidden = new HiddenRepositories();
  const whole = new Set<ByteText>();
  const add = (path: ByteText) => {
    const folder = hidden.add(path);
    if (folder !== undefined && folder !== "") whole.add(folder);
  };
  const touched = new Set<ByteText>();
  for (const { path, after } of changes) {
    if (after) add(path);
    for (const folder of foldersAbove(path)) touched.add(folder);
  }
  const folders = new Set(touched);
  for (const path of checkout.files) {
    add(path);
    for (const folder of foldersAbove(path)) folders.add(folder);
  }
  // A folder can hold objects, and cannot be a HEAD.
  for (const folder of folders) if (!/(^|\/)head$/iu.test(folder)) add(folder);
  // What git does not know of is there too.
  for (const folder of touched)
    for (const name of REPOSITORY_PARTS) if (isPart(checkout.path, folder, name)) add(`${folder}/${name}`);
  return new Set(changes.filter(({ path }) => foldersAbove(path).some((folder) => whole.has(folder))));
}

function isPart(top: string, folder: ByteText, name: string): boolean {
  try {
    const found = lstatSync(inCheckout(top, `${folder}/${name}`), { throwIfNoEntry: false });
    return found !== undefined && !(name === "HEAD" && found.isDirectory());
  } catch {
    return false; // what is a file here has nothing below it
  }
}
