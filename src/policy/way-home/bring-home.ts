import { isClocheError } from "../../base/errors.ts";
import { applyHunks } from "../apply-hunks.ts";
import { fromByteText, toByteText, type ByteText } from "../byte-text.ts";
import { diffLines, splitLines } from "../line-diff.ts";
import { parsePatch } from "../parse-patch.ts";
import { textOf, unifiedDiff } from "../unified-diff.ts";

/** A file or a link as git knows it; the content of a link is its target. */
export interface HomeState {
  readonly type: "file" | "symlink";
  readonly isExecutable: boolean;
  readonly content: Buffer;
}

/** What a sandbox has made of something; undefined where there is nothing. */
export interface HomeChange {
  /** Relative to the top of the checkout. */
  readonly path: ByteText;
  readonly before: HomeState | undefined;
  readonly after: HomeState | undefined;
}

/** What a change makes of what the host has. `there`: the host has it already. */
export type Arrival =
  | { readonly kind: "applies" | "merges"; readonly state: HomeState | undefined }
  | { readonly kind: "there" }
  | { readonly kind: "conflicts"; readonly reason: string };

/**
 * Brings a change to a host that may have gone on. Where it has what the sandbox began with, it gets what the sandbox has. Where both changed a text, it gets the
 * sandbox's lines if they fit exactly. Anything else is for people.
 */
export function bringHome({ before, after }: HomeChange, host: HomeState | undefined): Arrival {
  if (isSame(host, after)) return { kind: "there" };
  if (isSame(host, before)) return { kind: "applies", state: after };
  if (!host) return { kind: "conflicts", reason: "it is gone" };
  if (!before) return { kind: "conflicts", reason: "it exists, with other content" };
  if (!after) return { kind: "conflicts", reason: "it is deleted there, and was changed here" };
  if ([host, before, after].some(({ type }) => type !== "file"))
    return { kind: "conflicts", reason: "it was changed on both sides" };
  const merged = mergeTexts(before.content, after.content, host.content);
  if (!merged) {
    // Lines that were brought home before can be taken back out.
    const isThere =
      before.isExecutable === after.isExecutable && mergeTexts(after.content, before.content, host.content);
    if (isThere) return { kind: "there" };
    return { kind: "conflicts", reason: "it was changed on both sides, and the lines do not fit" };
  }
  const isExecutable = before.isExecutable === after.isExecutable ? host.isExecutable : after.isExecutable;
  return { kind: "merges", state: { type: "file", isExecutable, content: merged } };
}

export function isSame(one: HomeState | undefined, other: HomeState | undefined): boolean {
  if (!one || !other) return one === other;
  const isSameKind = one.type === other.type && (one.type === "symlink" || one.isExecutable === other.isExecutable);
  return isSameKind && one.content.equals(other.content);
}

/** Undefined where the lines do not fit, or where there are none. */
function mergeTexts(before: Buffer, after: Buffer, host: Buffer): Buffer | undefined {
  const [oldText, newText] = [textOf(before), textOf(after)];
  if (oldText === undefined || newText === undefined || textOf(host) === undefined) return undefined;
  const mode = "100644";
  const patch = unifiedDiff({ path: "file", oldText, newText, oldMode: mode, newMode: mode });
  if (patch === "") return host;
  try {
    const hunks = parsePatch(patch)[0]?.hunks ?? [];
    return fromByteText(applyHunks(toByteText(host), hunks, "file"));
  } catch (error) {
    if (isClocheError(error)) return undefined;
    throw error;
  }
}

/** Lines that a change adds and removes; null where it is no text. */
export function countLines({ before, after }: HomeChange): { added: number; removed: number } | null {
  const oldText = before ? textOf(before.content) : "";
  const newText = after ? textOf(after.content) : "";
  if (oldText === undefined || newText === undefined) return null;
  const changes = diffLines(splitLines(oldText), splitLines(newText));
  return {
    added: changes.reduce((sum, { newStart, newEnd }) => sum + newEnd - newStart, 0),
    removed: changes.reduce((sum, { oldStart, oldEnd }) => sum + oldEnd - oldStart, 0),
  };
}
