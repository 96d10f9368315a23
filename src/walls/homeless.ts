import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { errnoOf } from "../base/errors.ts";
import { identifyProcess, type ProcessIdentity } from "../base/process-identity.ts";

/** Where the folder of a sandbox is. */
export interface SandboxPlace {
  readonly home: string;
  readonly workspaceId: string;
  readonly sandboxName: string;
}

/** Of `HOME/workspaces/ID/gN`; undefined for any other path. */
export function placeOf(directory: string): SandboxPlace | undefined {
  const [, home, workspaceId, generation] = /^(\/.*)\/workspaces\/(ws-[0-9a-z]{10})\/(g\d+)$/s.exec(directory) ?? [];
  if (home === undefined || workspaceId === undefined || generation === undefined) return undefined;
  return { home, workspaceId, sandboxName: `${workspaceId}-${generation}` };
}

/** SECURITY: what this user cannot see is not gone (G-81). */
export function isGone(home: string): boolean {
  try {
    lstatSync(home);
    return false;
  } catch (error) {
    return errnoOf(error) === "ENOENT";
  }
}

/** A process of a sandbox whose home is gone. */
export interface HomelessProcess {
  readonly process: ProcessIdentity;
  readonly place: SandboxPlace;
}

/**
 * Processes that have a file of a sandbox open, which was deleted with the whole home.
 * SECURITY: both what it was called with and what it has open have to be a sandbox's: of whom only one is, is somebody else's (G-81)
 */
export function homelessProcesses(
  file: string,
  isOurs: (argv: readonly string[], place: SandboxPlace, count: number) => boolean,
): HomelessProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    const held = deletedFiles(name).flatMap((path) => (path.endsWith(`/${file}`) ? [path] : []));
    const place = placeOf((held[0] ?? "").slice(0, -file.length - 1));
    if (!place || !held.every((path) => path === held[0]) || !isGone(place.home)) return [];
    const found = identifyProcess(Number(name));
    return found && isOurs(argvOf(name), place, held.length) ? [{ process: found, place }] : [];
  });
}

const DELETED = " (deleted)";

function deletedFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return path.endsWith(DELETED) ? [path.slice(0, -DELETED.length)] : [];
    });
  } catch {
    return []; // it has ended, or is another user's
  }
}

function argvOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
