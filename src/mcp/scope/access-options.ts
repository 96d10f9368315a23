/** What the operator of a server adds to what its tools reach of the host. */
export interface AccessOptions {
  /** Folders and archives that seeds and pushes may come from, beside the project, and files with secrets. */
  readonly allow_read?: readonly string[] | undefined;
  /** Paths that exports may go to, or below, beside the output folder. */
  readonly allow_write?: readonly string[] | undefined;
  /** Environments beside `host` and `debian:*`; one that ends with `*` stands for all that begin so. */
  readonly allow_environment?: readonly string[] | undefined;
  /** Globs from the project's root: files that git ignores and that calls may include. */
  readonly allow_ignored?: readonly string[] | undefined;
  /** Also the workspaces of others. */
  readonly all_workspaces?: boolean | undefined;
  /** Where exports go; `.cloche/exports` in the project when not given. */
  readonly output_dir?: string | undefined;
}
