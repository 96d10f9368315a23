import type { FileChange, FileFound } from "../../guest/files.ts";
import { failure } from "../../model/error-codes.ts";
import { argument, call, way } from "../../model/hint.ts";
import { quoted, type ByteText } from "../../policy/byte-text.ts";
import type { HomeChange, HomeState } from "../../policy/way-home/bring-home.ts";
import { leadsIntoGit } from "../../policy/way-home/git-names.ts";
import { toWorkspaceRelative } from "../../policy/workspace-path.ts";
import { listSince } from "../diff/compared-state.ts";
import type { DiffSources } from "../diff/diff-workspace.ts";
import type { State } from "../diff/read-sides.ts";

/** SECURITY: what a sandbox can make the daemon hold is bounded (G-10). */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 48 * 1024 * 1024;
const MAX_CHANGES = 20_000;

export interface CollectedChanges {
  readonly changes: readonly HomeChange[];
  readonly leftOut: readonly { readonly path: ByteText; readonly reason: string }[];
  readonly ignoredCount: number;
}

/** All that a workspace has changed, with its content. `prefix`: what stands before each path in the checkout. */
export async function collectChanges(
  sources: DiffSources,
  { paths, prefix }: { readonly paths: readonly string[]; readonly prefix: ByteText },
): Promise<CollectedChanges> {
  const { live, state, rules, signal } = sources;
  const listed = await listSince(live, state, {
    rules: rules.matcher(),
    paths: paths.map(toWorkspaceRelative).flatMap((path) => (path === "" ? [] : [Buffer.from(path)])),
    signal,
  });
  const leftOut: { path: ByteText; reason: string }[] = [];
  const wanted = listed.changes.filter((change) => {
    if (isFolder(change)) return false; // git knows files
    const path = plainName(change);
    const reason = leadsIntoGit(path) ? "it is git's own" : isSpecial(change) ? "it is no file and no link" : undefined;
    if (reason !== undefined) leftOut.push({ path: prefix + path, reason });
    return reason === undefined;
  });
  requireFew(wanted);
  const before = await readAll(wanted, "old", await state.before(live), signal);
  const after = await readAll(wanted, "new", { files: await live.files(), root: "workspace" }, signal);
  const changes = wanted.map((change) => ({
    path: prefix + nameOf(change),
    before: before.get(change),
    after: after.get(change),
  }));
  return { changes, leftOut, ignoredCount: await listed.ignoredCount };
}

const nameOf = ({ pathBytes }: FileChange): ByteText => pathBytes.toString("latin1");
/** SECURITY: a sandbox's word for a path; on the host it stays below the checkout (G-79). */
function plainName(change: FileChange): ByteText {
  const name = nameOf(change);
  const isPlain = !name.includes("\0") && name.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (isPlain) return name;
  throw failure("GUEST_PROTOCOL", `Cannot bring home ${quoted(name)}: it is no plain path`);
}

const isThing = (type: FileChange["newType"]): boolean => type === "file" || type === "symlink";
const isFolder = ({ oldType, newType }: FileChange): boolean =>
  !isThing(oldType) && !isThing(newType) && oldType !== "other" && newType !== "other";
const isSpecial = ({ newType }: FileChange): boolean => newType === "other";

function requireFew(changes: readonly FileChange[]): void {
  const hint = [way`Bring home a part with ${argument("path")}`, way`take files out with ${call("exportWorkspace")}`];
  if (changes.length > MAX_CHANGES)
    throw failure("TOO_MANY_ENTRIES", `Cannot bring home ${changes.length} changes at once`, { hint });
  let total = 0;
  for (const change of changes) {
    const size = Math.max(sizeOf(change, "old"), sizeOf(change, "new"));
    total += sizeOf(change, "old") + sizeOf(change, "new");
    if (size > MAX_FILE_BYTES || total > MAX_TOTAL_BYTES)
      throw failure("FILE_TOO_LARGE", `Cannot bring home ${quoted(nameOf(change))}: there is too much at once`, {
        hint,
      });
  }
}

const sizeOf = (change: FileChange, side: "old" | "new"): number =>
  (side === "old" ? change.oldType : change.newType) === "file"
    ? side === "old"
      ? change.oldSize
      : change.newSize
    : 0;

async function readAll(
  changes: readonly FileChange[],
  side: "old" | "new",
  { files, root }: State,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<FileChange, HomeState>> {
  const there = changes.filter((change) => isThing(side === "old" ? change.oldType : change.newType));
  const states = new Map<FileChange, HomeState>();
  if (there.length === 0) return states;
  const wanted = there.map((change) => ({ path: change.pathBytes, maxBytes: sizeOf(change, side) }));
  let at = 0;
  for await (const found of files.readMany(root, wanted, { signal })) {
    const change = there[at++];
    if (change) states.set(change, stateOf(change, found, sizeOf(change, side)));
  }
  return states;
}

/** SECURITY: what is other than it was listed is not brought home in part (G-79). */
function stateOf(change: FileChange, found: FileFound, size: number): HomeState {
  const { entry } = found;
  if (entry?.type === "symlink") return { type: "symlink", isExecutable: false, content: entry.linkTargetBytes };
  if (entry?.type === "file" && "content" in found && found.content.length === size && entry.size === size)
    return { type: "file", isExecutable: (entry.mode & 0o100) !== 0, content: found.content };
  throw failure("FILE_FAILED", `Cannot bring home ${quoted(nameOf(change))}: it cannot be read, or is being changed`, {
    hint: "Try again when nothing in the workspace writes to it",
  });
}
