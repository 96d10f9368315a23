import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where an installation keeps what it keeps. Two different homes are two independent installations. */
export interface Places {
  readonly home: string;
  readonly cache: string;
}

export function placesFrom(env: Readonly<Record<string, string | undefined>>, home?: string): Places {
  return {
    home: resolve(home ?? (env["CLOCHE_HOME"] || join(homedir(), ".cloche"))),
    cache: resolve(env["CLOCHE_CACHE"] || join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "cloche")),
  };
}

export const daemonSocket = (home: string): string => join(home, "daemon.sock");
export const daemonLog = (home: string): string => join(home, "daemon.log");
export const storeFile = (home: string): string => join(home, "store.sqlite");
/** A token for MCP over HTTP that outlives daemons. */
export const mcpTokenFile = (home: string): string => join(home, "mcp-token.json");
export const configFile = (home: string): string => join(home, "config.yaml");
export const workspacesFolder = (home: string): string => join(home, "workspaces");
export const workspaceDirectory = (home: string, workspaceId: string): string =>
  join(workspacesFolder(home), workspaceId);
export const layersFolder = (home: string): string => join(home, "layers");
/** Of the environments of a cache, or of what is put over them. */
export const environmentsFolder = (cache: string, kind: "environments" | "programs" = "environments"): string =>
  join(cache, kind);
export const seedsFolder = (cache: string): string => join(cache, "seeds");
