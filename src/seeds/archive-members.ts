import { failure } from "../model/error-codes.ts";
import type { ClocheError } from "../base/errors.ts";

export const MAX_MEMBERS = 1_000_000;
export const MAX_BYTES = 64 * 1024 ** 3;

export type MemberKind = "file" | "directory" | "symlink" | "hardlink";

const KINDS: Readonly<Record<string, MemberKind>> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "directory",
  SymbolicLink: "symlink",
  Link: "hardlink",
};

/** SECURITY: devices, pipes and what is not known are refused, not skipped (G-13). */
export function memberKind(name: string, type: string): MemberKind {
  const kind = KINDS[type];
  if (kind === undefined) throw refused(name, `it is of type ${type}`);
  return kind;
}

/** The path below the root; empty for the root itself. SECURITY: nothing absolute, no `..` (G-13). */
export function memberPath(name: string): string {
  if (name.startsWith("/")) throw refused(name, "its name is absolute");
  if (name.includes("\0")) throw refused(name, "its name has a NUL byte");
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refused(name, 'its name has ".."');
  return parts.join("/");
}

/** SECURITY: a link stays below the root by its text alone, whatever the links on its way are (G-13). */
export function checkLinkTarget(name: string, path: string, target: string): void {
  if (target.startsWith("/")) throw refused(name, `it links to "${target}"`);
  let depth = path.split("/").length - 1;
  for (const part of target.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) throw refused(name, `it links to "${target}", which is outside`);
  }
}

export function refused(name: string, reason: string): ClocheError {
  return failure("SEED_INVALID", `Cannot import the member "${name}" of the archive: ${reason}`, {
    details: { member: name },
  });
}
