import { existsSync } from "node:fs";
import { watch } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";

const START_DEADLINE_MS = 30_000;
const LOOK_AGAIN_MS = 20;

/** Waits, told by the folder, until the name is there. */
export async function fileAppears(path: string, signal: AbortSignal | undefined): Promise<void> {
  const deadline = AbortSignal.timeout(START_DEADLINE_MS);
  const over = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    await watchUntilThere(path, over).catch((error: unknown) => {
      // The user's share of inotify may be used up, by whatever; a start has to work all the same.
      if (!["EMFILE", "ENOSPC"].includes(errnoOf(error) ?? "")) throw error;
      return lookUntilThere(path, over);
    });
  } catch (error) {
    if (deadline.aborted) throw failure("SANDBOX_START_FAILED", "The guest program did not open its socket in time");
    throw error;
  }
}

async function watchUntilThere(path: string, over: AbortSignal): Promise<void> {
  const found = new AbortController();
  const changes = watch(dirname(path), { signal: AbortSignal.any([over, found.signal]) })[Symbol.asyncIterator]();
  // The watch begins with the first `next`: before the first look, so that nothing is missed between.
  let change = changes.next();
  try {
    while (!existsSync(path)) {
      if ((await change).done === true) return;
      change = changes.next();
    }
  } finally {
    change.catch(() => undefined);
    found.abort();
  }
}

async function lookUntilThere(path: string, over: AbortSignal): Promise<void> {
  while (!existsSync(path)) await sleep(LOOK_AGAIN_MS, undefined, { signal: over });
}
