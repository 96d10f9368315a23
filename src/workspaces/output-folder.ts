import { closeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { namedIn, NotExact, openExactFolder } from "../base/exact-path.ts";
import { failure } from "../model/error-codes.ts";

/**
 * Gives `work` a name for the folder that an output goes to. Where no link may be on the way to it, that is the folder which was looked at, held open: one that
 * takes its place meanwhile gets nothing.
 */
export async function inOutputFolder<Result>(
  output: string,
  cautious: boolean | undefined,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = dirname(resolve(output));
  if (!cautious) return await work(folder);
  const fd = open(folder, output);
  try {
    return await work(namedIn(fd, "."));
  } finally {
    closeSync(fd);
  }
}

function open(folder: string, output: string): number {
  try {
    return openExactFolder(folder);
  } catch (error) {
    const code = errnoOf(error);
    // SECURITY: a link would lead an export to where its caller may not write (G-23)
    if (error instanceof NotExact || code === "ENOTDIR" || code === "ELOOP") {
      throw failure(
        "OUTPUT_INVALID",
        `Cannot export to "${output}": something on the way to it is a link, or not a folder`,
      );
    }
    if (code === "ENOENT") throw failure("OUTPUT_INVALID", `Cannot export to "${output}": "${folder}" is no folder`);
    throw error;
  }
}
