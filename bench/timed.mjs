import { performance } from "node:perf_hooks";

/** How long a piece of work takes, in milliseconds. @param {() => Promise<unknown>} work */
export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
