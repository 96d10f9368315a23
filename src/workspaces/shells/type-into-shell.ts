import { constants } from "node:os";
import type { GuestProcess } from "../../guest/process.ts";
import { failure } from "../../model/error-codes.ts";
import { call, way } from "../../model/hint.ts";
import type { OperationInput } from "../../model/operations.ts";
import { joinShell, type FoundShell } from "./find-shell.ts";

export type ShellSignal = NonNullable<OperationInput<"signalShell">["signal"]>;

const INTERRUPT_KEY = Buffer.from([3]);
const PIECE_BYTES = 4096;
/** How long a terminal may take nothing: what runs in it does not read. */
const STALL_MS = 5000;
const INTERRUPT_STALL_MS = 500;
/** For a killed shell to be gone. */
const KILL_PATIENCE_MS = 2000;

/** Joins the shell for a moment, without its output. */
export async function withShell<Result>(
  found: FoundShell,
  work: (process: GuestProcess) => Result | Promise<Result>,
): Promise<Result> {
  const process = joinShell(found, found.info.stdout.end);
  process.discardOutput();
  try {
    await process.started;
    return await work(process);
  } finally {
    process.detach();
  }
}

/** Writes as if typed. Rejects when what runs in the shell does not take its input. */
export async function typeIntoShell(found: FoundShell, data: Buffer): Promise<void> {
  const taken = await withShell(found, (process) => feed(process, data, STALL_MS));
  if (taken === data.length) return;
  throw failure(
    "WORKSPACE_BUSY",
    `What runs in shell "${found.stored.shellId}" took ${taken} of ${data.length} bytes`,
    {
      hint: [way`Wait until it reads its input`, way`end it with ${call("signalShell")}`],
      details: { bytes_written: taken },
    },
  );
}

/**
 * INT goes the way of a person's Ctrl-C, because only the terminal knows which of its jobs is in the foreground; a program that reads keys
 * one by one gets the key. The other signals go to everything that the shell has started, and to itself.
 */
export async function signalShell(found: FoundShell, signal: ShellSignal): Promise<void> {
  await withShell(found, async (process) => {
    if (signal === "INT") {
      const taken = await feed(process, INTERRUPT_KEY, INTERRUPT_STALL_MS);
      // The way of keys is full of what was typed before.
      if (taken === 0) process.signal(constants.signals.SIGINT, "tree");
      return;
    }
    process.signal(constants.signals[`SIG${signal}`], "tree");
    if (signal === "KILL") await ended(process, KILL_PATIENCE_MS);
  });
}

/** Whether it ended within the time. */
export async function ended(process: GuestProcess, patienceMs: number): Promise<boolean> {
  return await within(
    process.exit.then(() => true),
    patienceMs,
    false,
  );
}

/** Gives how many bytes were taken. */
async function feed(process: GuestProcess, data: Buffer, stallMs: number): Promise<number> {
  let at = 0;
  while (at < data.length) {
    const piece = data.subarray(at, at + PIECE_BYTES);
    const taken = await within(
      process.write(piece).then(() => true),
      stallMs,
      false,
    );
    if (!taken) return at;
    at += piece.length;
  }
  return at;
}

async function within<Result>(promise: Promise<Result>, ms: number, late: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Result>((resolve) => (timer = setTimeout(() => resolve(late), ms)));
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
