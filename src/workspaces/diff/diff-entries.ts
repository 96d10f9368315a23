import type { FileChange } from "../../guest/files.ts";
import type { ChangeStatus, DiffEntry, Omission } from "../../model/files.ts";
import { findRenames } from "../../policy/find-renames.ts";
import { patchesThatApply, type PlacedChange } from "../../policy/patches-in-the-way.ts";
import { unifiedDiff } from "../../policy/unified-diff.ts";
import { toWorkspaceAbsolute } from "../../policy/workspace-path.ts";
import type { Side } from "./read-sides.ts";

export interface Change {
  readonly change: FileChange;
  readonly before: Side | undefined;
  readonly after: Side | undefined;
}

/** Makes patches as long as there is room for more. */
export function* toEntries(changes: readonly Change[], hasRoom: () => boolean): Generator<DiffEntry> {
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
    const omitted =
      one.omitted ?? (!one.isTold ? undefined : !applying.has(one) ? "in_the_way" : !hasRoom() ? "budget" : undefined);
    yield {
      ...describe(change, origin ? "renamed" : change.status),
      ...(origin && { old_path: toWorkspaceAbsolute(origin.change.path) }),
      ...(omitted !== undefined && { omitted }),
      ...(omitted === undefined && one.isTold && { patch: patchFor(one) }),
    };
  }
}

interface PlacedSides extends Change, PlacedChange {
  /** What a renamed file was. */
  readonly origin: Change | undefined;
  /** Why one of its sides cannot be shown. */
  readonly omitted: Omission | undefined;
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
    omitted: (had ? before.before?.omitted : undefined) ?? (has ? one.after?.omitted : undefined) ?? closedFolder(one),
  };
}

/** What is in a folder that its user has closed cannot be told. */
const closedFolder = ({ change: { status, newType } }: Change): Omission | undefined =>
  status === "modified" && newType === "directory" ? "unreadable" : undefined;

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
