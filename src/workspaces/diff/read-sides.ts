import type { FileChange, FileFound, GuestFiles, GuestRoot } from "../../guest/files.ts";
import type { Omission } from "../../model/files.ts";
import { hasFewLines } from "../../policy/has-few-lines.ts";
import { type GitMode, gitModeOf, textOf } from "../../policy/unified-diff.ts";

/** Files above that are entries without a patch; and so are all that come when this much was read. */
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 12 * 1024 * 1024;
/** A line costs far more than its bytes. */
const MAX_LINES = 65_536;

/** One side of a change; `text` is null where `omitted` says why. */
export interface Side {
  readonly mode: GitMode;
  readonly text: string | null;
  readonly omitted?: Omission;
}

/** Undefined where there is nothing, or where it was not asked for. */
export interface Sides {
  before: Side | undefined;
  after: Side | undefined;
}

/** A state of `/workspace`: in which sandbox, and where there. */
export interface State {
  readonly files: GuestFiles;
  readonly root: GuestRoot;
}

export interface SidesWanted {
  readonly before: State;
  readonly now: State;
  /** Which sides of a change are read; both when it is left out. */
  readonly wants?: (change: FileChange) => { readonly before: boolean; readonly after: boolean };
  readonly signal?: AbortSignal | undefined;
}

/** What is on one side of a change, as it was listed. */
interface Thing {
  readonly type: NonNullable<FileChange["newType"]>;
  readonly size: number;
  readonly mode: number;
}

/** A side that has to be read. */
interface Asked {
  readonly path: Buffer;
  readonly thing: Thing;
  put(side: Side): void;
}

/** The sides of changes, of each state in one call of its sandbox. The first have the budget, whichever is read first. */
export async function readSides(
  changes: readonly FileChange[],
  { before, now, wants, signal }: SidesWanted,
): Promise<readonly Sides[]> {
  const budget = new TextBudget();
  const earlier: Asked[] = [];
  const present: Asked[] = [];
  const sides = changes.map((change) => {
    const own: Sides = { before: undefined, after: undefined };
    const wanted = wants?.(change);
    const { pathBytes: path, oldType, oldSize, oldMode, newType, newSize, newMode } = change;
    const plan = (asked: Asked[], thing: Thing, put: (side: Side) => void) => {
      const known = sideWithoutReading(thing, budget);
      if (known) put(known);
      else asked.push({ path, thing, put });
    };
    if (oldType && wanted?.before !== false)
      plan(earlier, { type: oldType, size: oldSize, mode: oldMode }, (side) => (own.before = side));
    if (newType && wanted?.after !== false)
      plan(present, { type: newType, size: newSize, mode: newMode }, (side) => (own.after = side));
    return own;
  });
  await Promise.all([readAsked(before, earlier, budget, signal), readAsked(now, present, budget, signal)]);
  return sides;
}

/** SECURITY: what a sandbox can make the daemon hold for a diff is bounded (G-10). */
class TextBudget {
  #left = MAX_TOTAL_BYTES;

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  /** A file may have another size by the time it is read. */
  correct(from: number, to: number): boolean {
    this.#left += from;
    return this.take(to);
  }
}

/** Undefined where there is something to read, which then has its part of the budget. */
function sideWithoutReading({ type, size, mode }: Thing, budget: TextBudget): Side | undefined {
  if (type === "symlink") return undefined;
  if (type !== "file") return without(mode, "special_file");
  if (size === 0) return { mode: gitModeOf("file", mode), text: "" };
  if (size > MAX_TEXT_BYTES) return without(mode, "too_large");
  return budget.take(size) ? undefined : without(mode, "budget");
}

async function readAsked(
  { files, root }: State,
  asked: readonly Asked[],
  budget: TextBudget,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (asked.length === 0) return;
  const wanted = asked.map(({ path }) => ({ path, maxBytes: MAX_TEXT_BYTES }));
  let at = 0;
  for await (const found of files.readMany(root, wanted, { signal })) {
    const one = asked[at++];
    one?.put(toSide(one.thing, found, budget));
  }
}

/** What is closed to its owner, or has become another thing since it was listed, is an entry without a patch; the others have theirs. */
function toSide({ type, size, mode }: Thing, found: FileFound, budget: TextBudget): Side {
  if (type === "symlink") {
    if (found.entry?.type !== "symlink") return { mode: "120000", text: null, omitted: "unreadable" };
    return withText("120000", found.entry.linkTargetBytes);
  }
  const content = "content" in found && found.entry.type === "file" ? found.content : undefined;
  if (!budget.correct(size, content?.length ?? 0)) return without(mode, "budget");
  if (!content) return without(mode, "unreadable");
  // SECURITY: a text of newlines alone would be a million lines, at once in memory and one by one compared (G-25)
  if (!hasFewLines(content, MAX_LINES)) return without(mode, "too_large");
  return withText(gitModeOf("file", mode), content);
}

const without = (mode: number, omitted: Omission): Side => ({ mode: gitModeOf("file", mode), text: null, omitted });

function withText(mode: GitMode, content: Buffer): Side {
  const text = textOf(content);
  return text === undefined ? { mode, text: null, omitted: "binary" } : { mode, text };
}
