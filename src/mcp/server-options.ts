import type { Cloche } from "../sdk/cloche.ts";
import { selectTools, type Mode, type Profile, type Selection } from "./profiles.ts";
import { openProjectSource, type ProjectOptions, type ProjectSource } from "./project/project-source.ts";

/** What `cloche mcp serve` takes, and `createServer` of the package. */
export interface ServerOptions extends ProjectOptions {
  readonly profile?: Profile | undefined;
  readonly mode?: Mode | undefined;
  /** For workspaces that name none. */
  readonly environment?: string | undefined;
  readonly backend?: string | undefined;
}

/** Everything that a server stands on, decided once. */
export interface ServerParts {
  readonly selection: Selection;
  /** Closed by who opened it. */
  readonly source: ProjectSource;
  readonly defaults: { readonly environment: string | undefined; readonly backend: string | undefined };
  readonly cloche: Cloche;
}

/** Throws for what does not fit. `cwd` is where a checkout is looked for; without it none is. */
export function chooseParts(options: ServerOptions, cwd: string | undefined, cloche: Cloche): ServerParts {
  return {
    selection: selectTools(options.profile, options.mode),
    source: openProjectSource(options, cwd, cloche.home),
    defaults: { environment: options.environment, backend: options.backend },
    cloche,
  };
}
