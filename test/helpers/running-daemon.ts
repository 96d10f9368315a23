import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { childrenOf, identifyProcess, isProcessAlive } from "../../src/base/process-identity.ts";
import { eventually, type Installation } from "./installation.ts";

/** Kills the daemon as nothing can catch it, and waits until the kernel is done with it. */
export async function killDaemon(at: Installation): Promise<number> {
  const { pid } = await at.sdk.daemonStatus();
  const identity = pid === null ? undefined : identifyProcess(pid);
  if (!identity) throw new Error("no daemon to kill");
  process.kill(identity.pid, "SIGKILL");
  await eventually(() => expect(isProcessAlive(identity)).toBe(false));
  return identity.pid;
}

/** The folder of a workspace's sandbox: the newest, when a reset left an older one. */
export function sandboxFolder(home: string, id: string): string {
  const folder = join(home, "workspaces", id);
  const newest = Math.max(...readdirSync(folder).map((name) => Number(/^g(\d+)$/.exec(name)?.[1] ?? 0)));
  return join(folder, `g${newest}`);
}

/** The program around a sandbox, on the host. */
export function wallPid(home: string, id: string): number {
  return Number(readFileSync(join(sandboxFolder(home, id), "wall.pid"), "latin1").split(" ")[0]);
}

/** The first process of a sandbox: its guest program. */
export function guestPids(home: string, id: string): number[] {
  return childrenOf(wallPid(home, id)).map(({ pid }) => pid);
}
