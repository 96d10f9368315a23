import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { WallSpec } from "../../contracts/backend.ts";
import { workFolder, writableLayer } from "../../walls/layers.ts";

export const UPPER_LINK = "u";
export const WORK_LINK = "w";

/**
 * Where the links of a sandbox are: a folder that nobody but the user can write to. An engine mounts by name, and the names show in the sandbox's mount
 * table: through links they are short, and tell nothing of the home.
 */
export function linksFolder(name: string, home: string, env: NodeJS.ProcessEnv, isRoot: boolean): string {
  if (isRoot) return join("/run/cloche", name);
  return env["XDG_RUNTIME_DIR"] ? join(env["XDG_RUNTIME_DIR"], "cloche", name) : join(home, "links", name);
}

/** Needed while the engine mounts, and no longer. */
export function makeLinks(folder: string, spec: Pick<WallSpec, "directory" | "baseline" | "layers">): void {
  removeLinks(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lower = [spec.baseline, ...spec.layers];
  lower.forEach((path, index) => symlinkSync(path, join(folder, String(index))));
  symlinkSync(writableLayer(spec.directory), join(folder, UPPER_LINK));
  symlinkSync(workFolder(spec.directory), join(folder, WORK_LINK));
}

/** The links, never what they point to. */
export function removeLinks(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
