import { createHash } from "node:crypto";
import type { Scan } from "./scan.ts";

/** Raised when the same source would give another tree. */
export const IMPORTER_VERSION = 4;

/** Whom the files of the tree belong to on the host. */
export interface TreeOwner {
  readonly kind: string;
  readonly uid: number;
  readonly gid: number;
}

export function ownerLine(owner: TreeOwner): string {
  return `cloche seed ${IMPORTER_VERSION} ${owner.kind} ${owner.uid}:${owner.gid}\n`;
}

/**
 * Names a project state without reading its files. A file that was written has another change time, which nobody can set; the one
 * exception, two writes within the clock's grain, is what the cache's record of fresh files is for.
 */
export function seedKey(scan: Scan, owner: TreeOwner): string {
  const digest = createHash("sha256").update(ownerLine(owner));
  scan.entries.addTo(digest);
  for (const { path, files, indexDigest } of scan.repositories) {
    digest.update(`g${path}\0${indexDigest}\0\n`, "latin1");
    for (const { name, content } of files) digest.update(`${name}\0${content.length}\0`, "latin1").update(content);
  }
  // Not part of the tree, but of what is told about it.
  for (const { path, lists } of scan.ignoring) {
    digest.update(`i${path}\0${lists.length}\0`, "latin1");
    for (const { prefix, text } of lists) digest.update(`${prefix}\0${text.length}\0${text}`, "latin1");
  }
  return digest.digest("hex").slice(0, 40);
}
