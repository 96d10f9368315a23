import { readFileSync } from "node:fs";

/** A process, told from a later one with the same pid by its start time. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly startTicks: string;
}

/** Fields of `/proc/PID/stat` after the command name, or undefined when the process is gone. */
function statFields(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name is in parentheses and may hold anything, parentheses included.
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined; // ended meanwhile
  }
}

export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startTicks = statFields(pid)?.[19];
  return startTicks === undefined ? undefined : { pid, startTicks };
}

/** Whether that very process still runs; a zombie does not. */
export function isProcessAlive(identity: ProcessIdentity): boolean {
  const fields = statFields(identity.pid);
  return fields !== undefined && fields[19] === identity.startTicks && fields[0] !== "Z" && fields[0] !== "X";
}

/** Sends a signal to that very process; nothing when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isProcessAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

export function childrenOf(pid: number): ProcessIdentity[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean);
    return pids.flatMap((text) => identifyProcess(Number(text)) ?? []);
  } catch {
    return [];
  }
}
