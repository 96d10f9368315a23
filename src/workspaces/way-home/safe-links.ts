import type { ByteText } from "../../policy/byte-text.ts";
import type { HomeChange } from "../../policy/way-home/bring-home.ts";
import { leadsIntoGit } from "../../policy/way-home/git-names.ts";
import { ExportLinks } from "../export-links.ts";
import { foldersAbove } from "../read-named-files.ts";

const targetOf = ({ after }: HomeChange): ByteText | undefined =>
  after?.type === "symlink" ? after.content.toString("latin1") : undefined;

/**
 * Changes that are links which lead out of the checkout, or into git's own folder, and why they stay away.
 * SECURITY: who writes to such a link on the host later writes elsewhere. Asked as the kernel would walk it there, through links that the checkout has (G-79)
 */
export async function unsafeLinks(
  changes: readonly HomeChange[],
  checkout: { readonly files: Iterable<ByteText>; readonly links: ReadonlyMap<ByteText, ByteText> },
): Promise<ReadonlyMap<HomeChange, string>> {
  const unsafe = new Map<HomeChange, string>();
  const fresh = new Map(changes.filter((one) => targetOf(one) !== undefined).map((one) => [one.path, one]));
  if (fresh.size === 0) return unsafe;
  const folders = new Set<ByteText>();
  for (const path of [...checkout.files, ...changes.map((change) => change.path)])
    for (const folder of foldersAbove(path)) folders.add(folder);
  const links = new ExportLinks((path) => folders.has(path));
  for (const [path, target] of checkout.links) if (!fresh.has(path)) links.add(path, target);
  for (const [path, change] of fresh) {
    const target = targetOf(change) ?? "";
    if (target === "" || target.includes("\0") || leadsIntoGit(target))
      unsafe.set(change, "it is a link into git's own folder, or to nothing");
    else links.add(path, target);
  }
  for await (const { path } of links.leadingOut()) {
    const change = fresh.get(path);
    if (change) unsafe.set(change, "it is a link that leads out of the checkout");
  }
  return unsafe;
}
