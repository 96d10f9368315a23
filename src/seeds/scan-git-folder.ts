import { lstatSync, readdirSync } from "node:fs";
import { failure } from "../model/error-codes.ts";
import { joined, shown, toFs, type BytePath } from "./byte-path.ts";
import { safeGitConfig } from "./git-config.ts";
import { readSmallFile, type GitRepository } from "./git-repository.ts";
import type { GitHere } from "./git-here.ts";
import type { ScannedRepository } from "./scan.ts";
import { SourceChanged, sourceFailure } from "./seed-errors.ts";

/** Of this checkout. Logs, FETCH_HEAD and hooks are not here: they hold addresses, or run. */
const OWN_FILES = [
  "HEAD",
  "MERGE_HEAD",
  "MERGE_MSG",
  "MERGE_MODE",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "info/sparse-checkout",
];
const SHARED_FILES = ["packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts"];
const NAMES_COMMITS = /^(HEAD|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|packed-refs|refs\/.*)$/s;

/**
 * Reads what a self-contained `.git` of the checkout needs, except objects: those are packed later, only when the state is not in the
 * cache yet.
 */
export async function scanGitFolder(
  path: BytePath,
  repository: GitRepository,
  indexDigest: string,
  git: GitHere,
): Promise<ScannedRepository> {
  const { gitDir, commonDir, workTree } = repository;
  const files: { name: BytePath; content: Buffer }[] = [{ name: "config", content: await safeConfig(repository, git) }];
  const take = (folder: BytePath, name: BytePath) => {
    const content = readSmallFile(joined(folder, name));
    if (content !== undefined) files.push({ name, content });
  };
  for (const name of OWN_FILES) take(gitDir, name);
  for (const name of SHARED_FILES) take(commonDir, name);
  for (const name of namesMaybe(gitDir)) if (name.startsWith("sharedindex.")) take(gitDir, name);
  for (const folder of ["refs", "reftable"]) for (const name of filesBelow(commonDir, folder)) take(commonDir, name);
  const roots = new Set(
    files.filter(({ name }) => NAMES_COMMITS.test(name)).flatMap(({ content }) => hashesIn(content)),
  );
  if (files.some(({ name }) => name.startsWith("reftable/"))) {
    for (const hash of hashesIn((await git(["for-each-ref", "--format=%(objectname)"])).stdout)) roots.add(hash);
  }
  return {
    path,
    workTree,
    objects: joined(commonDir, "objects"),
    files,
    index: scanIndex(joined(gitDir, "index")),
    indexDigest,
    roots: [...roots],
  };
}

async function safeConfig(repository: GitRepository, git: GitHere): Promise<Buffer> {
  const listed = await git(["config", "--local", "--no-includes", "--list", "-z"]);
  if (listed.exitCode !== 0) {
    throw failure(
      "SEED_INVALID",
      `Cannot read the git configuration of "${shown(repository.workTree)}": ${listed.stderr}`,
    );
  }
  return Buffer.from(safeGitConfig(listed.stdout.toString("utf8")));
}

function scanIndex(path: BytePath): ScannedRepository["index"] {
  const before = lstatSync(toFs(path), { bigint: true, throwIfNoEntry: false });
  const content = readSmallFile(path);
  if (before === undefined || content === undefined) return undefined;
  return { content, mtimeNs: before.mtimeNs };
}

/** Tells whether the index was renewed meanwhile. */
export function indexStamp(repository: GitRepository): string {
  const stat = lstatSync(toFs(joined(repository.gitDir, "index")), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "" : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
}

function hashesIn(content: Buffer): string[] {
  return (
    content
      .toString("latin1")
      .match(/^\^?[0-9a-f]{40,64}\b/gm)
      ?.map((hash) => hash.replace("^", "")) ?? []
  );
}

/** Regular files below a folder, links never followed. */
function filesBelow(base: BytePath, folder: BytePath): BytePath[] {
  const found: BytePath[] = [];
  // SECURITY: the folder itself may be a link to the user's own files (G-01)
  if (!lstatSync(toFs(joined(base, folder)), { throwIfNoEntry: false })?.isDirectory()) return found;
  for (const name of namesMaybe(joined(base, folder))) {
    const path = joined(folder, name);
    const stat = lstatSync(toFs(joined(base, path)), { throwIfNoEntry: false });
    if (stat?.isDirectory()) found.push(...filesBelow(base, path));
    else if (stat?.isFile() && !name.endsWith(".lock")) found.push(path);
  }
  return found;
}

function namesMaybe(folder: BytePath): BytePath[] {
  try {
    return readdirSync(toFs(folder), { encoding: "latin1" }).sort();
  } catch (error) {
    const failed = sourceFailure(folder, error);
    if (failed instanceof SourceChanged) return [];
    throw failed;
  }
}
