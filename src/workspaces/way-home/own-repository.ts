import { lstatSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { readPlainFile } from "../../base/read-plain-file.ts";
import { pointsBack } from "../../git/points-back.ts";
import { failure } from "../../model/error-codes.ts";
import { toByteText } from "../../policy/byte-text.ts";

const MAX_BYTES = 65_536;

/**
 * The git folder of a checkout, by its top. Refuses one that git would refuse to the user who runs cloche.
 * SECURITY: git obeys the configuration of a repository, and anybody can put a `.git` into a folder that others work below. Git itself does not ask whose it is when it is told where it is (G-140)
 */
export function requireOwnRepository(top: string): string {
  const dotGit = join(top, ".git");
  requireOwn(top);
  requireOwn(dotGit);
  const isFile = lstatSync(dotGit).isFile();
  const gitDir = follow(top, isFile ? resolve(top, namedBy(dotGit)) : dotGit);
  requireOwn(gitDir);
  const shared = readIfThere(join(gitDir, "commondir"))?.replace(/[\r\n]+$/u, "");
  const commonDir = shared === undefined ? gitDir : follow(top, resolve(gitDir, shared));
  requireOwn(commonDir);
  if (isFile && !pointsBack(toByteText(top), toByteText(gitDir), toByteText(commonDir)))
    throw failure("CHECKOUT_INVALID", `"${dotGit}" names the repository "${gitDir}", which has another checkout`, {
      hint: "If it is a worktree that was moved, run `git worktree repair` there; otherwise remove the file",
    });
  return gitDir;
}

/** As git decides it: what belongs to the user who asks, and to nobody else. */
function requireOwn(path: string): void {
  if (lstatSync(path).uid === process.geteuid?.()) return;
  throw failure("CHECKOUT_INVALID", `"${path}" belongs to another user, and git would do what its settings say`, {
    hint: "Run cloche as the user who owns the checkout, or name a clone of your own with --to",
  });
}

function namedBy(dotGit: string): string {
  const target = /^gitdir: ([^\r\n]+)/u.exec(readIfThere(dotGit) ?? "")?.[1];
  if (target !== undefined) return target;
  throw failure("CHECKOUT_INVALID", `"${dotGit}" is no folder of git's and names none`);
}

function follow(top: string, path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw failure("CHECKOUT_INVALID", `"${top}" is no git checkout: ${messageOf(error)}`);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readPlainFile(path, MAX_BYTES).toString("utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw failure("CHECKOUT_INVALID", `Cannot read "${path}": ${messageOf(error)}`);
  }
}
