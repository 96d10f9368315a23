import { existsSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { onAbort } from "../base/on-abort.ts";

/** Resolves when there is a socket of that name, or the signal is aborted. It watches the folder, and starts no daemon. */
export async function untilListening(socket: string, signal: AbortSignal): Promise<void> {
  let look = (): void => undefined;
  const folder = watch(dirname(socket), (_event, name) => {
    if (name === null || name === basename(socket)) look();
  });
  const found = new Promise<void>((resolve) => {
    look = () => {
      if (signal.aborted || existsSync(socket)) resolve();
    };
  });
  const stopListening = onAbort(signal, look);
  // It may have come before the watch had begun.
  look();
  await found;
  stopListening();
  folder.close();
}
