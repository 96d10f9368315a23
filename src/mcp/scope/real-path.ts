import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errors.ts";

/** Where a path really is; for a missing path, the nearest existing folder is resolved. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = errnoOf(error);
    if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(path) === path) throw error;
    return join(realPathOf(dirname(path)), basename(path));
  }
}
