/** The addresses of a workspace's resources. */
export const FILE_TEMPLATE = "cloche://workspaces/{workspace_id}/files/{+path}";
export const DIFF_TEMPLATE = "cloche://workspaces/{workspace_id}/diff";
export const SUMMARY_TEMPLATE = "cloche://workspaces/{workspace_id}/summary";

export type WorkspaceUri =
  | { readonly kind: "file"; readonly workspaceId: string; readonly path: string }
  | { readonly kind: "diff"; readonly workspaceId: string }
  | { readonly kind: "summary"; readonly workspaceId: string };

export const diffUri = (workspaceId: string): string => DIFF_TEMPLATE.replace("{workspace_id}", workspaceId);
export const summaryUri = (workspaceId: string): string => SUMMARY_TEMPLATE.replace("{workspace_id}", workspaceId);

/** Undefined for what is no address of ours. A path is decoded once and judged by the daemon, as every path is. */
export function parseWorkspaceUri(uri: string): WorkspaceUri | undefined {
  const [, workspaceId, kind, rest] =
    /^cloche:\/\/workspaces\/([^/?#]+)\/(files|diff|summary)(?:\/([^?#]*))?$/.exec(uri) ?? [];
  if (workspaceId === undefined) return undefined;
  if (kind !== "files") return rest === undefined ? { kind: kind as "diff" | "summary", workspaceId } : undefined;
  try {
    return rest === undefined || rest === ""
      ? undefined
      : { kind: "file", workspaceId, path: decodeURIComponent(rest) };
  } catch {
    return undefined; // no valid escape
  }
}
