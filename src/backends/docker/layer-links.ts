import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { randomName } from "../../base/ids.ts";
import { requirePrivateFolder } from "../../base/private-folder.ts";
import type { WallSpec } from "../../contracts/backend.ts";
import { failure } from "../../model/error-codes.ts";
import { workFolder, writableLayer } from "../../walls/layers.ts";
import type { CoveredFolder } from "./covered-folders.ts";

export const UPPER_LINK = "u";
export const WORK_LINK = "w";
/** With the number of a folder of the host. */
export const COVER_LINK = "c";
export const FOLDER_LINK = "h";

interface Installation {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isRoot: boolean;
}

/**
 * Where the links of a sandbox are: a folder that nobody but the user can write to. An engine mounts by name, and the names show in the sandbox's mount
 * table: through links they are short, and tell nothing of the home. A stopped container keeps the names, so they stay the same.
 */
export function linksFolder(name: string, { home, env, isRoot }: Installation): string {
  if (isRoot) return join("/run/cloche", name);
  const runtime = env["XDG_RUNTIME_DIR"];
  return runtime ? join(runtime, "cloche", name) : join("/tmp", `cloche-links-${ownName(home)}`, name);
}

/** SECURITY: nobody can guess it, and take it first (G-24). */
function ownName(home: string): string {
  const file = join(home, "links-name");
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    const name = randomName(16);
    writeFileSync(file, name, { mode: 0o600, flag: "wx" });
    return name;
  }
}

/** Needed while the engine mounts, and no longer. */
export function makeLinks(
  folder: string,
  spec: Pick<WallSpec, "directory" | "baseline" | "layers">,
  shown: readonly CoveredFolder[] = [],
): void {
  openOwn(dirname(folder));
  removeLinks(folder);
  mkdirSync(folder, { mode: 0o700 });
  const lower = [spec.baseline, ...spec.layers];
  lower.forEach((path, index) => symlinkSync(path, join(folder, String(index))));
  symlinkSync(writableLayer(spec.directory), join(folder, UPPER_LINK));
  symlinkSync(workFolder(spec.directory), join(folder, WORK_LINK));
  shown.forEach(({ source, cover }, index) => {
    symlinkSync(cover, join(folder, `${COVER_LINK}${index}`));
    symlinkSync(source, join(folder, `${FOLDER_LINK}${index}`));
  });
}

/** SECURITY: the engine follows these links as root: nobody else may have made the folder that they are in (G-21, G-24). */
function openOwn(folder: string): void {
  const refusal = (reason: string) =>
    failure("BACKEND_UNAVAILABLE", reason, { hint: "Remove it, or set XDG_RUNTIME_DIR to a folder of your own" });
  try {
    requirePrivateFolder(folder); // first, so that nothing is made in a place that is not to be trusted
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    requirePrivateFolder(folder);
  } catch (error) {
    throw refusal(messageOf(error));
  }
  if (!lstatSync(folder).isDirectory()) throw refusal(`Cannot use the folder "${folder}": it is a link`);
}

/** The links, never what they point to; nothing in a folder that is not the user's own. */
export function removeLinks(folder: string): void {
  try {
    requirePrivateFolder(dirname(folder));
  } catch {
    return; // none of them were made there
  }
  rmSync(folder, { recursive: true, force: true });
}
