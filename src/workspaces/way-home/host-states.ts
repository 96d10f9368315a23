import { constants, lstatSync, openSync, readlinkSync } from "node:fs";
import { readOpenFile } from "../../base/read-plain-file.ts";
import { fromByteText, type ByteText } from "../../policy/byte-text.ts";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import { foldersAbove } from "../read-named-files.ts";
import type { TrackedFile } from "./checkout.ts";

/** A file of the checkout is read whole up to here. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

export const inCheckout = (top: string, path: ByteText): Buffer =>
  Buffer.concat([Buffer.from(`${top}/`), fromByteText(path)]);

/** What the host has at a path: something, nothing, or what keeps a change away from it. */
export type HostPlace = { readonly state: HomeState | undefined } | { readonly obstacle: string };

/** SECURITY: neither the thing itself nor a folder on the way to it is followed as a link (G-79). */
export function lookAt(top: string, path: ByteText): HostPlace {
  for (const folder of foldersAbove(path)) {
    const found = lstatSync(inCheckout(top, folder), { throwIfNoEntry: false });
    if (!found) return { state: undefined };
    if (found.isSymbolicLink()) return { obstacle: "a link is on the way to it" };
    // What is a file here may go with the same changes: then there is nothing below it.
    if (!found.isDirectory()) return { state: undefined };
    if (lstatSync(inCheckout(top, `${folder}/.git`), { throwIfNoEntry: false }))
      return { obstacle: "it is in a repository of its own" };
  }
  const at = inCheckout(top, path);
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (!found) return { state: undefined };
  if (found.isSymbolicLink())
    return { state: { type: "symlink", isExecutable: false, content: readlinkSync(at, "buffer") } };
  if (found.isDirectory()) return { obstacle: "it is a folder" };
  if (!found.isFile()) return { obstacle: "it is no ordinary file" };
  if (found.size > MAX_FILE_BYTES) return { obstacle: "it is too large" };
  const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  return {
    state: {
      type: "file",
      isExecutable: (found.mode & 0o100) !== 0,
      content: readOpenFile(fd, MAX_FILE_BYTES),
    },
  };
}

export const stateOfBlob = ({ mode }: TrackedFile, content: Buffer): HomeState => ({
  type: mode === "120000" ? "symlink" : "file",
  isExecutable: mode === "100755",
  content,
});
