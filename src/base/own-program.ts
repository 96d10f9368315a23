import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ClocheError, errnoOf } from "./errors.ts";

/** The processors there is a guest program for, as Node calls them. */
const PROCESSORS: Readonly<Record<string, string>> = { x64: "x86-64", arm64: "arm64" };

/** One folder for each processor. The same place from `src/` and from `dist/`. */
const FOLDER = new URL(`../../build/guest/${process.arch}/`, import.meta.url);

/** Of each file that was found to be right: what it was then. */
const checked = new Map<string, string>();

/** The program in C that comes with the package. */
export const ownProgram = (): string => ownFile("cloche-guest");

/**
 * A file that comes with the package for this processor, as it was built: its hash has to be the one in `SHA256SUMS` beside it. It is read when it is used first
 * and when it has changed since. Throws when it is missing or damaged.
 */
export function ownFile(name: string, folder = FOLDER): string {
  const path = fileURLToPath(new URL(name, folder));
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    const stamp = [ino, size, mtimeMs, ctimeMs].join(" ");
    if (checked.get(path) === stamp) return path;
    checkHash(path, name, folder);
    checked.set(path, stamp);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw missing(path);
    throw error;
  }
  return path;
}

function checkHash(path: string, name: string, folder: URL): void {
  const wanted = readFileSync(new URL("SHA256SUMS", folder), "utf8")
    .split("\n")
    .find((line) => line.slice(64) === `  ${name}`)
    ?.slice(0, 64);
  const found = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (found !== wanted) throw unusable(`"${path}" is damaged: it is not the file that was built`);
}

function missing(path: string): ClocheError {
  const processor = PROCESSORS[process.arch];
  if (processor !== undefined) return unusable(`"${path}", or its hash beside it, is missing`);
  const known = Object.values(PROCESSORS).join(" and ");
  return new ClocheError(
    "BACKEND_UNAVAILABLE",
    `There is no guest program for this processor, ${process.arch}`,
    `Use a machine with one of these: ${known}`,
  );
}

const unusable = (message: string): ClocheError =>
  new ClocheError("BACKEND_UNAVAILABLE", message, "Install the package again; in a checkout, run `make build`");
