import { lstatSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { WallSpec } from "../../contracts/backend.ts";
import { failure } from "../../model/error-codes.ts";
import { workFolder, writableLayer } from "../../walls/layers.ts";
import type { CoveredFolder } from "./covered-folders.ts";

export const UPPER_LINK = "u";
export const WORK_LINK = "w";
/** With the number of a folder of the host. */
export const COVER_LINK = "c";
export const FOLDER_LINK = "h";

/**
 * Where the links of a sandbox are: a folder that nobody but the user can write to. An engine mounts by name, and the names show in the sandbox's mount
 * table: through links they are short, and tell nothing of the home.
 */
export function linksFolder(name: string, env: NodeJS.ProcessEnv, isRoot: boolean): string {
  if (isRoot) return join("/run/cloche", name);
  const runtime = env["XDG_RUNTIME_DIR"];
  return runtime ? join(runtime, "cloche", name) : join("/tmp", `cloche-${process.getuid?.() ?? 0}`, name);
}

/** Needed while the engine mounts, and no longer. */
export function makeLinks(
  folder: string,
  spec: Pick<WallSpec, "directory" | "baseline" | "layers">,
  shown: readonly CoveredFolder[] = [],
): void {
  removeLinks(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  requireOwn(dirname(folder));
  const lower = [spec.baseline, ...spec.layers];
  lower.forEach((path, index) => symlinkSync(path, join(folder, String(index))));
  symlinkSync(writableLayer(spec.directory), join(folder, UPPER_LINK));
  symlinkSync(workFolder(spec.directory), join(folder, WORK_LINK));
  shown.forEach(({ source, cover }, index) => {
    symlinkSync(cover, join(folder, `${COVER_LINK}${index}`));
    symlinkSync(source, join(folder, `${FOLDER_LINK}${index}`));
  });
}

/** SECURITY: the engine follows these links as root: nobody else may have made the folder that they are in (G-21). */
function requireOwn(folder: string): void {
  const found = lstatSync(folder);
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return;
  throw failure(
    "BACKEND_UNAVAILABLE",
    `The folder "${folder}" belongs to somebody else, or can be written to by others`,
    {
      hint: "Remove it, or set XDG_RUNTIME_DIR to a folder of your own",
    },
  );
}

/** The links, never what they point to. */
export function removeLinks(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
