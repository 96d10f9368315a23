import { posix } from "node:path";
import { failure } from "../model/error-codes.ts";
import { WORKSPACE_ROOT } from "../model/names.ts";

/**
 * A path as a caller gives it, relative to `/workspace`; empty for `/workspace` itself. Links are not known here: the guest refuses
 * those that leave, as it walks.
 */
export function toWorkspaceRelative(path: string): string {
  // SECURITY: nothing but a path under /workspace reaches the guest (G-11).
  const absolute = posix.resolve(WORKSPACE_ROOT, path);
  if (absolute === WORKSPACE_ROOT) return "";
  if (!absolute.startsWith(`${WORKSPACE_ROOT}/`) || path.includes("\0")) {
    throw failure("PATH_OUTSIDE_WORKSPACE", `Path ${JSON.stringify(path)} is outside ${WORKSPACE_ROOT}`);
  }
  return absolute.slice(WORKSPACE_ROOT.length + 1);
}

export const toWorkspaceAbsolute = (relative: string): string =>
  relative === "" ? WORKSPACE_ROOT : `${WORKSPACE_ROOT}/${relative}`;
