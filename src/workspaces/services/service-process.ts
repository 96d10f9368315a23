import { constants } from "node:os";
import { isClocheError } from "../../base/errors.ts";
import type { GuestClient } from "../../guest/client.ts";
import type { GuestExit, ProcessInfo } from "../../guest/process.ts";
import type { Rlimit, SpawnSpec } from "../../guest/spawn-frame.ts";
import { AGENT } from "../../model/names.ts";
import type { LiveWorkspace } from "../live-workspace.ts";

/** Of each channel: what a log keeps. */
export const LOG_BYTES = 1024 * 1024;
const RLIMIT_NPROC = 6;
const TAG = "service:";

export interface ServiceCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly hasSecrets: boolean;
  readonly cwd: string;
  /** Most processes of the sandbox. */
  readonly pids: number;
}

/** How a process of a service ended: undefined when its sandbox or the guest's memory of it is gone, `left` when this daemon lets go. */
export type ProcessEnd = GuestExit | "left" | undefined;

/** SECURITY: the number of processes is bounded also where no cgroup bounds it (G-15). */
export const processLimit = (pids: number): Rlimit => ({ resource: RLIMIT_NPROC, soft: pids, hard: pids });

export function serviceSpec(serviceName: string, { argv, env, hasSecrets, cwd, pids }: ServiceCommand): SpawnSpec {
  return {
    argv,
    env,
    hasSecrets,
    cwd,
    user: AGENT,
    tag: `${TAG}${serviceName}`,
    // The rings are the log: they outlive the process, a flood drops its own oldest lines and never waits for a reader.
    keep: true,
    dropOldest: true,
    ringBytes: LOG_BYTES,
    rlimits: [processLimit(pids)],
  };
}

/** Gives the guest's number of the new process, which this connection follows no further, and whether its program runs: else its end follows. */
export async function spawnDetached(
  guest: GuestClient,
  spec: SpawnSpec,
): Promise<{ process: number; hasStarted: boolean }> {
  const spawned = guest.spawn(spec);
  spawned.discardOutput();
  const { process, pid } = await spawned.started;
  spawned.detach();
  return { process, hasStarted: pid !== 0 };
}

/** To a process that no stream follows: a short visit. One that the guest does not know, or that has ended, gets nothing. */
export function signalProcess(guest: GuestClient, process: number, signal: number, scope: "group" | "tree"): void {
  const visit = guest.attach(process, { stdout: 0, stderr: 0 });
  visit.discardOutput();
  visit.signal(signal, scope);
  visit.detach();
}

/** Waits for the end without taking output, also over a connection that breaks. Never rejects. */
export async function watchProcess(live: LiveWorkspace, process: number): Promise<ProcessEnd> {
  for (;;) {
    let guest: GuestClient;
    try {
      guest = await live.guest();
    } catch {
      return undefined; // the sandbox is gone; its workspace says why
    }
    try {
      return await guest.watch(process);
    } catch (error) {
      if (isClocheError(error) && error.code === "CANCELLED") return "left";
      if (isClocheError(error) && error.code === "COMMAND_NOT_FOUND") return undefined;
      await guest.closed; // then the workspace knows it too, and connects anew
    }
  }
}

/** What the guest knows of services, the newest first. */
export async function listServiceProcesses(guest: GuestClient): Promise<(ProcessInfo & { serviceName: string })[]> {
  return (await guest.processes())
    .filter(({ tag }) => tag.startsWith(TAG))
    .map((one) => ({ ...one, serviceName: one.tag.slice(TAG.length) }))
    .sort((a, b) => b.process - a.process);
}

export async function findServiceProcess(guest: GuestClient, serviceName: string): Promise<ProcessInfo | undefined> {
  return (await listServiceProcesses(guest)).find((one) => one.serviceName === serviceName);
}

/** Ends what a service left running when its first process had ended, such as one that made itself a daemon. Its log stays. */
export async function endLeftovers(guest: GuestClient, serviceName: string): Promise<void> {
  const processes = (await listServiceProcesses(guest)).filter((one) => one.serviceName === serviceName);
  for (const { process } of processes) await guest.signalTree(process, constants.signals.SIGKILL);
}

/** Ends what there still is of earlier processes of that name and drops their logs. */
export async function forgetService(guest: GuestClient, serviceName: string): Promise<void> {
  await endLeftovers(guest, serviceName);
  const processes = (await listServiceProcesses(guest)).filter((one) => one.serviceName === serviceName);
  for (const { process } of processes) await guest.forgetIfThere(process);
}
