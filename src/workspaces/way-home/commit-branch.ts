import { randomBytes } from "node:crypto";
import { failure } from "../../model/error-codes.ts";
import { fromByteText, type ByteText } from "../../policy/byte-text.ts";
import { quotePath } from "../../policy/quote-path.ts";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import type { Checkout } from "./checkout.ts";

export interface BranchWanted {
  readonly branch: string;
  readonly base: string;
  readonly message: string;
  readonly seconds: number;
  readonly files: readonly { readonly path: ByteText; readonly becomes: HomeState | undefined }[];
}

/** Refuses, before anything is made, a name that git does not take or that is taken. */
export async function requireFreeBranch(checkout: Checkout, branch: string): Promise<void> {
  const { exitCode } = await checkout.git(["check-ref-format", "--branch", branch]);
  if (exitCode !== 0 || branch.startsWith("-"))
    throw failure("INVALID_ARGUMENT", `"${branch}" is no name for a branch`);
  const there = await checkout.git(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
  if (there.exitCode === 0) throw branchExists(branch);
}

const branchExists = (branch: string) =>
  failure("BRANCH_EXISTS", `There is a branch "${branch}"`, {
    hint: "Name another one with --branch, or delete that one with `git branch -D`",
  });

/** One commit on a new branch. The files that are checked out, and the index, are not touched. Gives the commit. */
export async function commitBranch(checkout: Checkout, wanted: BranchWanted): Promise<string> {
  const { branch } = wanted;
  const passing = `refs/cloche/apply-${randomBytes(6).toString("hex")}`;
  try {
    await checkout.must(["fast-import", "--quiet", "--date-format=raw"], {
      input: Buffer.concat([...importStream(wanted, passing, await checkout.identity())]),
    });
    const commit = (await checkout.must(["rev-parse", "--verify", passing])).toString("utf8").trim();
    // Only where there is none: somebody else may have made it meanwhile.
    const made = await checkout.git(["update-ref", `refs/heads/${branch}`, commit, "0".repeat(commit.length)]);
    if (made.exitCode !== 0) throw branchExists(branch);
    return commit;
  } finally {
    await checkout.git(["update-ref", "-d", passing]);
  }
}

export async function deleteBranch(checkout: Checkout, branch: string, commit: string): Promise<void> {
  await checkout.git(["update-ref", "-d", `refs/heads/${branch}`, commit]);
}

/** SECURITY: content goes by its length and names in quotes, so that neither can say anything to git (G-79). */
function* importStream({ base, message, seconds, files }: BranchWanted, ref: string, who: string): Generator<Buffer> {
  const text = Buffer.from(message);
  yield Buffer.from(`commit ${ref}\ncommitter ${who.replaceAll(/[\n\0]/g, " ")} ${Math.floor(seconds)} +0000\n`);
  yield Buffer.from(`data ${text.length}\n`);
  yield text;
  yield Buffer.from(`\nfrom ${base}\n`);
  for (const { path, becomes } of files) if (!becomes) yield named("D ", path);
  for (const { path, becomes } of files) {
    if (!becomes) continue;
    const mode = becomes.type === "symlink" ? "120000" : becomes.isExecutable ? "100755" : "100644";
    yield named(`M ${mode} inline `, path);
    yield Buffer.from(`data ${becomes.content.length}\n`);
    yield becomes.content;
    yield Buffer.from("\n");
  }
}

/** Always in quotes: a name may begin with one. */
function named(words: string, path: ByteText): Buffer {
  const shown = quotePath(fromByteText(path));
  return Buffer.from(`${words}${shown.startsWith('"') ? shown : `"${shown}"`}\n`);
}
