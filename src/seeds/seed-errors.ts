import { errnoOf, isClocheError, type ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { shown, type BytePath } from "./byte-path.ts";

/** The source is not what the scan saw. The import starts again, a few times. */
export class SourceChanged extends Error {
  readonly path: BytePath;
  constructor(path: BytePath) {
    super(`"${shown(path)}" changed during the import`);
    this.path = path;
  }
}

/** A failure to read `path` of the source, named. */
export function sourceFailure(path: BytePath, error: unknown): Error {
  const code = errnoOf(error);
  // gone, or another kind of file than a moment ago
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return new SourceChanged(path);
  return failure("SEED_UNREADABLE", `Cannot read "${shown(path)}": ${reasonOf(code)}`, {
    details: { path: shown(path) },
    cause: error,
  });
}

/** A failure to write into the cache. */
export function cacheFailure(error: unknown): unknown {
  if (isClocheError(error) || error instanceof SourceChanged) return error;
  const code = errnoOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") return diskFull(error);
  return error;
}

function diskFull(cause: unknown): ClocheError {
  return failure("DISK_FULL", "Cannot import the seed: no space is left where the cache is", { cause });
}

function reasonOf(code: string | undefined): string {
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EIO") return "input/output error";
  return code ?? "it cannot be read";
}
