import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../base/errors.ts";

/** Where a path really is; of one that is not there, the folder above it that is counts. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const code = errnoOf(error);
    if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(path) === path) throw error;
    return join(realPathOf(dirname(path)), basename(path));
  }
}
