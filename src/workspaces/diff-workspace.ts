import { isClocheError } from "../base/errors.ts";
import { jsonBytes } from "../base/json-bytes.ts";
import type { FileChange, GuestFiles } from "../guest/files.ts";
import { CHANGE_STATUSES, type ChangeStatus, type Diff, type DiffEntry } from "../model/files.ts";
import { patchesThatApply, type PlacedChange } from "../policy/patches-in-the-way.ts";
import { findRenames } from "../policy/find-renames.ts";
import { hasFewLines } from "../policy/has-few-lines.ts";
import type { Redactor } from "../policy/redactor.ts";
import { type GitMode, gitModeOf, textOf, unifiedDiff } from "../policy/unified-diff.ts";
import { toWorkspaceAbsolute } from "../policy/workspace-path.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** Files above that are entries without a patch; and so are all that come when this much was read. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 12 * 1024 * 1024;
/** Of all patches together, as they are emitted: each is in its entry and in the whole. Names are bounded where they are listed. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;
/** A line costs far more than its bytes. */
const MAX_LINES = 65_536;
const MAX_CHANGES = 100_000;
const AT_ONCE = 4;

/** One side of a change; `text` is null where it is not text, or too large. */
interface Side {
  readonly mode: GitMode;
  readonly text: string | null;
}

interface Change {
  readonly change: FileChange;
  readonly before: Side | undefined;
  readonly after: Side | undefined;
}

/** What differs from the create-time baseline. The guest lists the writable layer, so the cost follows the changes. */
export async function diffWorkspace(live: LiveWorkspace): Promise<Diff> {
  const reader = new SideReader(await live.files());
  const changes = await readSides(reader, await reader.files.changes({ maxEntries: MAX_CHANGES }));
  const entries: DiffEntry[] = [];
  let left = MAX_PATCH_BYTES;
  for (const found of toEntries(changes, () => left > 0)) {
    const { patch, ...entry } = redactEntry(found, live.secrets.redactor);
    const bytes = patch === undefined ? 0 : 2 * jsonBytes(patch);
    // SECURITY: a name in a patch has four bytes for each of its own, four times, and a patch two for each line: counted as it is emitted (G-25)
    entries.push(patch === undefined || bytes > left ? entry : { ...entry, patch });
    if (bytes <= left) left -= bytes;
    else left = 0;
    await nextTurn(); // comparing is work for the processor: others get their turn after each file
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const count = (status: ChangeStatus) => entries.filter((entry) => entry.status === status).length;
  const summary = Object.fromEntries(CHANGE_STATUSES.map((status) => [status, count(status)])) as Record<
    ChangeStatus,
    number
  >;
  return {
    workspace_id: live.workspaceId,
    changed: entries.length > 0,
    summary: { total: entries.length, ...summary },
    entries,
    patch: entries.map((entry) => entry.patch ?? "").join(""),
  };
}

/** A few at a time: most of a small file's reading is waiting. In their order, whichever comes first. */
async function readSides(reader: SideReader, found: readonly FileChange[]): Promise<Change[]> {
  const changes: Change[] = [];
  const rest = found.entries();
  const work = async () => {
    for (const [index, change] of rest) {
      const [before, after] = await Promise.all([reader.read("baseline", change), reader.read("workspace", change)]);
      changes[index] = { change, before, after };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return changes;
}

function redactEntry(entry: DiffEntry, redactor: Redactor): DiffEntry {
  if (redactor.isEmpty) return entry;
  const { path, old_path: oldPath, patch } = entry;
  return {
    ...entry,
    path: redactor.text(path),
    ...(oldPath !== undefined && { old_path: redactor.text(oldPath) }),
    ...(patch !== undefined && { patch: redactor.text(patch) }),
  };
}

/** Reads both sides of changes, as long as there is budget. */
class SideReader {
  readonly files: GuestFiles;
  #left = MAX_TOTAL_BYTES;

  constructor(files: GuestFiles) {
    this.files = files;
  }

  async read(root: "baseline" | "workspace", change: FileChange): Promise<Side | undefined> {
    const [type, size, mode] =
      root === "baseline"
        ? [change.oldType, change.oldSize, change.oldMode]
        : [change.newType, change.newSize, change.newMode];
    if (type === undefined) return undefined;
    if (type === "symlink") {
      const found = await unlessUnreadable(this.files.stat(root, change.pathBytes));
      return { mode: "120000", text: (found && textOf(found.linkTargetBytes)) ?? null };
    }
    const side = { mode: gitModeOf("file", mode), text: null };
    if (type === "file" && size === 0) return { ...side, text: "" };
    // SECURITY: what a sandbox can make the daemon hold for a diff is bounded (G-10).
    if (type !== "file" || size > Math.min(MAX_TEXT_BYTES, this.#left)) return side;
    this.#left -= size; // at once, since others are read beside it
    const found = await unlessUnreadable(this.files.readAll(root, change.pathBytes, { maxBytes: MAX_TEXT_BYTES }));
    this.#left += size - (found?.content.length ?? 0);
    if (!found) return side;
    // SECURITY: a text of newlines alone would be a million lines, at once in memory and one by one compared (G-25)
    return hasFewLines(found.content, MAX_LINES) ? { ...side, text: textOf(found.content) ?? null } : side;
  }
}

/** What is closed to its owner, or has changed since it was listed, is an entry without a patch; the others have theirs. */
async function unlessUnreadable<Found>(reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await reading;
  } catch (error) {
    const codes: readonly string[] = ["FILE_FAILED", "FILE_NOT_FOUND", "FILE_WRONG_TYPE", "PATH_OUTSIDE_WORKSPACE"];
    if (isClocheError(error) && codes.includes(error.code)) return undefined;
    throw error;
  }
}

const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Makes patches as long as there is room for more. */
function* toEntries(changes: readonly Change[], hasRoom: () => boolean): Generator<DiffEntry> {
  const candidates = (status: ChangeStatus, side: "before" | "after") =>
    changes.flatMap((one) => {
      const own = one[side];
      if (one.change.status !== status || own?.text == null) return [];
      const type = own.mode === "120000" ? ("symlink" as const) : ("file" as const);
      return [{ path: one.change.path, type, content: Buffer.from(own.text), one }];
    });
  const renames = findRenames(candidates("added", "after"), candidates("deleted", "before"));
  const moved = new Map(renames.map(({ from, to }) => [to.one, from.one]));
  const movedAway = new Set(moved.values());
  const told = changes.flatMap((one) => (movedAway.has(one) ? [] : [placed(one, moved.get(one))]));
  const applying = patchesThatApply(told);
  for (const one of told) {
    const { change, origin } = one;
    const patch = applying.has(one) && hasRoom() ? patchFor(one) : undefined;
    yield {
      ...describe(change, origin ? "renamed" : change.status),
      ...(origin && { old_path: toWorkspaceAbsolute(origin.change.path) }),
      ...(patch !== undefined && { patch }),
    };
  }
}

interface PlacedSides extends Change, PlacedChange {
  /** What a renamed file was. */
  readonly origin: Change | undefined;
}

function placed(one: Change, origin: Change | undefined): PlacedSides {
  const before = origin ?? one;
  const { oldType } = before.change;
  const { newType } = one.change;
  const had = oldType !== undefined && oldType !== "directory";
  const has = newType !== undefined && newType !== "directory";
  return {
    ...one,
    before: before.before,
    origin,
    from: had ? before.change.pathBytes.toString("latin1") : undefined,
    to: has ? one.change.pathBytes.toString("latin1") : undefined,
    isTold: (had || has) && !(had && before.before?.text == null) && !(has && one.after?.text == null),
  };
}

function patchFor({ change, before, after, from, to, origin }: PlacedSides): string {
  if (change.status !== "type_changed") return patchOf(change, before, after, origin?.change.pathBytes);
  // As git has it: the old thing goes, the new one comes. A folder is neither, and what is in it has entries of its own.
  const gone = from === undefined ? "" : patchOf(change, before, undefined);
  const come = to === undefined ? "" : patchOf(change, undefined, after);
  return gone + come;
}

function patchOf(change: FileChange, before: Side | undefined, after: Side | undefined, oldPath?: Uint8Array): string {
  return unifiedDiff({
    path: change.pathBytes,
    oldPath,
    oldText: before?.text ?? null,
    newText: after?.text ?? null,
    oldMode: before?.mode ?? "100644",
    newMode: after?.mode ?? "100644",
  });
}

function describe(change: FileChange, status: ChangeStatus): Omit<DiffEntry, "patch"> {
  const type = change.newType ?? change.oldType ?? "other";
  return {
    path: toWorkspaceAbsolute(change.path),
    status,
    artifact_type: type === "other" ? "file" : type,
    size_bytes: change.newType === undefined ? 0 : change.newSize,
  };
}
