import { giveBackCode } from "../own-code.ts";

/** Of bodies, between two collections. Each byte of one is in a buffer of its own four times over on its way. */
const BYTES_BETWEEN = 2 * 1024 * 1024;

/** There when the gate is started as `gate-keeper.ts` starts it. */
const collect = (globalThis as { gc?: (isMinor: boolean) => void }).gc;
let passed = 0;

/**
 * Tells of bytes of a body that have passed. The collector counts objects, and a buffer is a small one, whatever it holds: it lets many go by, sees a full heap, and goes
 * through all of it. A look at the newest objects alone frees the same buffers for a fraction of that.
 */
export function spent(bytes: number): void {
  passed += bytes;
  if (passed < BYTES_BETWEEN) return;
  passed = 0;
  collect?.(true);
}

/** Orders come close together at the start of a workspace, and its first requests soon after. */
const QUIET_MS = 100;
let timer: NodeJS.Timeout | undefined;

/**
 * After much was made that nobody needs any more: a gate may do nothing for hours. What loading and an order leave free is some five megabytes, of which an ordinary
 * collection gives none back to the system; V8 does that by itself eight seconds after one, and not before.
 */
export function giveBackSoon(): void {
  if (!collect) return;
  clearTimeout(timer);
  timer = setTimeout(() => void giveBack(), QUIET_MS).unref();
}

/** Of all that Node offers only its debugger asks V8 for that. It is asked inside of this process: nothing listens. */
async function giveBack(): Promise<void> {
  if (!process.features.inspector) return;
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connect();
  // It must not go while it answers.
  session.post("HeapProfiler.collectGarbage", () =>
    setImmediate(() => {
      session.disconnect();
      giveBackCode();
    }),
  );
}
