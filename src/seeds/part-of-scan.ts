import type { IgnoreRepository } from "../policy/ignore-rules.ts";
import { joined, type BytePath } from "./byte-path.ts";
import { below, listsAbove } from "./ignore-sources.ts";
import type { Scan } from "./scan.ts";

/** What a scan found in one folder of its root, as if that folder were the root. Undefined when it is no folder of the scan. */
export function partOfScan(scan: Scan, folder: BytePath): Scan | undefined {
  if (folder === "") return scan;
  const entries = scan.entries.below(folder);
  if (entries === undefined) return undefined;
  const inside = (path: BytePath) => path === folder || path.startsWith(`${folder}/`);
  const relative = (path: BytePath) => path.slice(folder.length + 1);
  return {
    root: joined(scan.root, folder),
    entries,
    repositories: scan.repositories
      .filter(({ path }) => inside(path))
      .map((repository) => ({ ...repository, path: relative(repository.path) })),
    ignored: {
      taken: scan.ignored.taken,
      left: scan.ignored.left.filter(inside).map(relative).filter(Boolean),
      leftSecrets: scan.ignored.leftSecrets.filter(inside).map(relative),
      takenSecrets: scan.ignored.takenSecrets.filter(inside).map(relative),
    },
    ignoring: ignoringBelow(scan, folder),
    leftOut: scan.leftOut.filter(inside).map(relative),
    head: null,
  };
}

/** Rules from above go on to hold in the folder; those of a work tree in it are its own. */
function ignoringBelow({ root, ignoring }: Scan, folder: BytePath): IgnoreRepository[] {
  const inside = ignoring
    .filter(({ path }) => path === folder || path.startsWith(`${folder}/`))
    .map(({ path, lists }) => ({ path: path.slice(folder.length + 1), lists }));
  if (inside.some(({ path }) => path === "")) return inside;
  const around = ignoring.filter(({ path }) => path === "" || folder.startsWith(`${path}/`));
  const { path: top, lists } = around.reduce((a, b) => (b.path.length >= a.path.length ? b : a), {
    path: "",
    lists: [],
  });
  const nearest = listsAbove(joined(root, top), joined(root, folder));
  const own = lists.map(({ prefix, text }) => ({ prefix: prefix + below(top, folder), text }));
  return [...inside, { path: "", lists: [...nearest, ...own] }];
}
