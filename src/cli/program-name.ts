import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { quoteCommand } from "./output/quote-command.ts";

const NAME = "cloche";
/** Folders that npx and npm put on the PATH while they run. */
const PASSING = /\/node_modules\/\.bin\/?$/;

/**
 * What to type for the program that runs now, as short as it is sure: its name where a shell finds this very file by it, else its whole path.
 *
 * SECURITY: never by `npx`, which runs whatever the package of the folder calls `cloche` (G-145)
 */
export function programName(path: string | undefined, searchPath = process.env["PATH"] ?? ""): string {
  if (path === undefined) return NAME;
  const own = realPath(path);
  if (own !== undefined && own === foundByName(searchPath)) return NAME;
  const file = resolve(path);
  return quoteCommand(isProgram(file) ? [file] : ["node", file]);
}

function foundByName(searchPath: string): string | undefined {
  for (const folder of searchPath.split(delimiter)) {
    // From another folder it would be another file.
    if (!isAbsolute(folder)) return undefined;
    const file = join(folder, NAME);
    if (!PASSING.test(folder) && isProgram(file)) return realPath(file);
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
