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

/** After much was made that nobody needs any more: a gate may do nothing for hours. */
export function collectAll(): void {
  collect?.(false);
}
