import { isClocheError } from "../../base/errors.ts";
import type { FileChange, GuestFiles, GuestRoot } from "../../guest/files.ts";
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

/** A state of `/workspace`: in which sandbox, and where there. */
export interface State {
  readonly files: GuestFiles;
  readonly root: GuestRoot;
}

/** Reads both sides of changes, as long as there is budget. */
export class SideReader {
  readonly #before: State;
  readonly #now: State;
  #left = MAX_TOTAL_BYTES;

  constructor(before: State, now: State) {
    this.#before = before;
    this.#now = now;
  }

  readBefore({ oldType, oldSize, oldMode, pathBytes }: FileChange): Promise<Side | undefined> {
    return this.#read(this.#before, pathBytes, { type: oldType, size: oldSize, mode: oldMode });
  }

  readNow({ newType, newSize, newMode, pathBytes }: FileChange): Promise<Side | undefined> {
    return this.#read(this.#now, pathBytes, { type: newType, size: newSize, mode: newMode });
  }

  async #read(
    { files, root }: State,
    path: Buffer,
    { type, size, mode }: { type: FileChange["newType"]; size: number; mode: number },
  ): Promise<Side | undefined> {
    if (type === undefined) return undefined;
    if (type === "symlink") {
      const found = await unlessUnreadable(files.stat(root, path));
      return found ? withText("120000", found.linkTargetBytes) : { mode: "120000", text: null, omitted: "unreadable" };
    }
    const without = (omitted: Omission): Side => ({ mode: gitModeOf("file", mode), text: null, omitted });
    if (type !== "file") return without("special_file");
    if (size === 0) return withText(gitModeOf("file", mode), Buffer.alloc(0));
    // SECURITY: what a sandbox can make the daemon hold for a diff is bounded (G-10).
    if (size > MAX_TEXT_BYTES) return without("too_large");
    if (size > this.#left) return without("budget");
    this.#left -= size; // at once, since others are read beside it
    const found = await unlessUnreadable(files.readAll(root, path, { maxBytes: MAX_TEXT_BYTES }));
    this.#left += size - (found?.content.length ?? 0);
    if (!found) return without("unreadable");
    // SECURITY: a text of newlines alone would be a million lines, at once in memory and one by one compared (G-25)
    if (!hasFewLines(found.content, MAX_LINES)) return without("too_large");
    return withText(gitModeOf("file", mode), found.content);
  }
}

function withText(mode: GitMode, content: Buffer): Side {
  const text = textOf(content);
  return text === undefined ? { mode, text: null, omitted: "binary" } : { mode, text };
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
