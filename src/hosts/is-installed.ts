import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { configPath } from "./config-file.ts";
import { findProgram } from "./find-program.ts";
import type { Host } from "./host.ts";
import { homeOf } from "./hosts.ts";
import type { Environment } from "./server-entry.ts";

/** Whether a host is here: its program, its configuration, or the folder that it keeps that in. A desktop program is often not on the PATH. */
export function isInstalled(host: Host, env: Environment): boolean {
  const path = configPath(host, env);
  return findProgram(host.program, env) !== undefined || existsSync(path) || hasFolder(path, env);
}

/** A host that keeps its file in the home itself has no folder of its own. */
const hasFolder = (path: string, env: Environment): boolean =>
  dirname(path) !== homeOf(env) && existsSync(dirname(path));
