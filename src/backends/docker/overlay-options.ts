import { failure } from "../../model/error-codes.ts";
import { COVER_LINK, FOLDER_LINK, UPPER_LINK, WORK_LINK } from "./layer-links.ts";

/** The kernel takes one page of mount options; the engine adds nothing. */
const MAX_BYTES = 4000;
/** Each means something else in mount options. */
const SPECIAL = /[,:\\"\n]/;

/**
 * `/workspace` as the engine mounts it: the baseline, the layers, and the writable one on top, each by its link. With `userxattr`, so that the layers are
 * the same as those of every other backend, and nothing that a sandbox writes is taken for the kernel's own marks.
 */
export function overlayOptions(links: string, layerCount: number): string {
  requirePlain(links);
  // The baseline is 0; the topmost comes first.
  const lower = Array.from({ length: layerCount + 1 }, (_, index) => `${links}/${layerCount - index}`);
  // SECURITY: no device and no setuid program of a project works (G-06, G-07).
  const options = `lowerdir=${lower.join(":")},upperdir=${links}/${UPPER_LINK},workdir=${links}/${WORK_LINK},userxattr,nosuid,nodev`;
  if (Buffer.byteLength(options) <= MAX_BYTES) return options;
  throw failure(
    "NOT_SUPPORTED",
    `The docker backend cannot mount ${layerCount} snapshots from a path as long as ${links}`,
    {
      hint: "Set XDG_RUNTIME_DIR to a shorter path; or export the workspace and create a new one from the folder",
    },
  );
}

/** A folder of the host as the engine mounts it, by its number: what covers it, and the folder. Nothing of it can be written. */
export function hostFolderOptions(links: string, index: number): string {
  requirePlain(links);
  return `lowerdir=${links}/${COVER_LINK}${index}:${links}/${FOLDER_LINK}${index},userxattr,ro,nosuid,nodev`;
}

function requirePlain(links: string): void {
  if (!SPECIAL.test(links)) return;
  throw failure(
    "NOT_SUPPORTED",
    `The docker backend cannot mount from "${links}": it holds a comma, a colon, a quote or a backslash`,
    {
      hint: "Set XDG_RUNTIME_DIR to a folder without these",
    },
  );
}
