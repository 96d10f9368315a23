/** What an argument means, wherever it stands: one name, one meaning. Those that their name explains are not here. */
export const ARGUMENTS: Readonly<Record<string, string>> = {
  command: "A string runs in `sh -c`, an array is an argv",
  cwd: "Default /workspace",
  cursor: "A next_cursor",
  dest: "Folder under /workspace",
  env: "Variables",
  idempotency_key: "The same key gives the same workspace",
  offset: "A next_offset",
  output_path: "New path on the host",
  path: "Under /workspace",
  secret_env: "Secret name to variable",
  seed_path: "Folder, git checkout or tar on the host",
  snapshot: "Default baseline",
  source_path: "Folder or tar on the host",
  timeout_seconds: "Default 30; then it is ended, and what it printed returned",
  ttl_seconds: "Since last activity; default 3600",
};
