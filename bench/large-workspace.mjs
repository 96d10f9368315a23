import { largeProject, someFiles } from "./project-tree.mjs";

export const EDITS = 10;
/** Relative to the project. */
export const EDITED = someFiles(EDITS);
const EDIT = ["sh", "-c", 'for file; do echo edited >>"$file"; done', "sh", ...EDITED];

/** The same edit of the same files, on the host. @param {string} folder */
export const editCommand = (folder) => ["sh", "-c", `cd "$0" && exec "$@"`, folder, ...EDIT];

/**
 * A project of 50,000 files on the host, and a workspace of it in which 10 files were edited.
 *
 * @template T @param {import("./bench.mjs").Bench} bench
 * @param {(given: { project: string, workspaceId: string, edit: (workspaceId: string) => Promise<void> }) => Promise<T>} use
 */
export async function withLargeWorkspace({ installation: { cloche, directory }, say }, use) {
  const project = largeProject(directory, say);
  say("importing it");
  const { workspace_id: workspaceId } = await cloche.createWorkspace({ environment: "host", seed_path: project });
  /** @param {string} id */
  const edit = async (id) => {
    const { exit_code, stderr } = await cloche.execWorkspace(id, { command: EDIT });
    if (exit_code !== 0) throw new Error(`the edit failed: ${stderr}`);
  };
  await edit(workspaceId);
  try {
    return await use({ project, workspaceId, edit });
  } finally {
    await cloche.deleteWorkspace(workspaceId);
  }
}
