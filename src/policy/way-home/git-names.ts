import { fromByteText, type ByteText } from "../byte-text.ts";

/** Characters that some file systems pass over when they compare names. */
const PASSED_OVER = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/**
 * Whether a path has a part that is git's own folder, or that a file system without case, with short names or with a different idea of Unicode takes for it.
 * SECURITY: what is written there tells git on the host what to run (G-79)
 */
export function leadsIntoGit(path: ByteText): boolean {
  return fromByteText(path).toString("utf8").split(/[/\\]/u).some(isGitName);
}

function isGitName(part: string): boolean {
  const name = part
    .replace(PASSED_OVER, "")
    .replace(/:.*$/su, "")
    .replace(/[. ]+$/u, "")
    .toLowerCase();
  return name === ".git" || /^git~\d+$/u.test(name);
}
