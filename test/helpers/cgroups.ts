import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Cgroups of these workspaces, in whichever hierarchy. */
export function cgroupsNaming(ids: readonly string[], folder = "/sys/fs/cgroup", depth = 4): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const path = join(folder, entry.name);
    const own = ids.some((id) => entry.name.includes(id)) ? [path] : [];
    try {
      return depth === 0 ? own : [...own, ...cgroupsNaming(ids, path, depth - 1)];
    } catch {
      return own; // went away meanwhile
    }
  });
}
