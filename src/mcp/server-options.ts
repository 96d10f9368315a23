import type { Cloche } from "../sdk/cloche.ts";
import { selectTools, type Mode, type Profile, type Selection } from "./profiles.ts";
import type { AccessOptions } from "./scope/access-options.ts";
import { scopeClient, type ScopedClient } from "./scope/scoped-client.ts";
import { newOwner, openAccess, type ServerAccess } from "./scope/server-access.ts";
import { openProjectSource, type ProjectOptions, type ProjectSource } from "./project/project-source.ts";

/** What `cloche mcp serve` takes, and `createServer` of the package. */
export interface ServerOptions extends ProjectOptions, AccessOptions {
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
  readonly access: ServerAccess;
  readonly client: ScopedClient;
}

/** Throws for what does not fit. `cwd` is where a checkout is looked for; without it none is. */
export function chooseParts(options: ServerOptions, cwd: string | undefined, cloche: Cloche): ServerParts {
  const { profile, mode, environment, backend } = options;
  const selection = selectTools(profile, mode);
  const source = openProjectSource(options, cwd, cloche.home);
  const { root, identity } = source;
  const access = openAccess(options, { root, identity, environment, full: selection.full }, cwd ?? "/");
  return {
    selection,
    source,
    defaults: { environment, backend },
    access,
    client: scopeClient(cloche, access, source),
  };
}

/** The same for one more session: without a project its workspaces are its own. */
export function forSession(parts: ServerParts, cloche: Cloche): ServerParts {
  if (parts.source.identity !== undefined) return parts;
  const access = { ...parts.access, ...newOwner() };
  return { ...parts, access, client: scopeClient(cloche, access, parts.source) };
}
