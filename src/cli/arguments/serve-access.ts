import type { HostAccess } from "../../model/host.ts";
import type { Values } from "./option-spec.ts";
import { parseArguments } from "./parse-arguments.ts";
import { SERVE_OPTIONS, serverOptions } from "./serve-options.ts";

export const SERVE = { words: ["mcp", "serve"], positionals: [], options: SERVE_OPTIONS } as const;

/** What the tools of a server with these words reach of the host. Throws for words that it does not take. */
export function serveAccess(words: readonly string[]): HostAccess {
  const options = serverOptions(parseArguments(SERVE, words).values as Values<typeof SERVE_OPTIONS>);
  const { project_path: path, repo_url: url, no_project_source: none, environment, output_dir: output } = options;
  const hasNone = none === true || url !== undefined;
  const project = hasNone ? [] : [path ?? "the git checkout that it is started in"];
  const exports = hasNone ? [] : [path === undefined ? ".cloche/exports in the checkout" : `${path}/.cloche/exports`];
  return {
    reads: [
      ...project,
      ...(options.allow_ignored ?? []).map((glob) => `${glob}, which git ignores`),
      ...(options.allow_read ?? []),
    ],
    writes: [...(output === undefined ? exports : [output]), ...(options.allow_write ?? [])],
    environments: [
      ...new Set([
        "host",
        "debian:*",
        ...(environment === undefined ? [] : [environment]),
        ...(options.allow_environment ?? []),
      ]),
    ],
    workspaces: options.all_workspaces ? "all" : "own",
  };
}
