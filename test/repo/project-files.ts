import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

export const readProjectFile = (path: string): string => readFileSync(resolve(ROOT, path), "utf8");

/** What is in the repository or about to be: tracked, and untracked without being ignored. Relative, sorted. */
export function projectFiles(): string[] {
  const output = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  const names = new Set(output.split("\0").filter((name) => name !== ""));
  return [...names].filter((name) => existsSync(resolve(ROOT, name))).sort();
}

/** Where in a text a match begins, as `file:line`. */
export const placeOf = (file: string, text: string, index: number): string =>
  `${file}:${text.slice(0, index).split("\n").length}`;
