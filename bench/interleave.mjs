import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";

/** An engine goes on tidying up after its command has returned; the next case should not pay for that. */
const SETTLE_MS = 100;
/** A median of fewer says nothing. */
const LEAST_ROUNDS = 3;

/**
 * Runs every case once per round, in turn, so that whatever disturbs the machine disturbs all of them. Each round starts with another case: what
 * comes after a heavy one is not always the same. It ends with the rounds, or with the round in which the time is up.
 *
 * @param {{ rounds: number, seconds: number, warmUp: number, cases: Record<string, () => Promise<number | readonly number[]>> }} plan each case gives what it measured
 * @returns {Promise<Record<string, number[]>>}
 */
export async function interleave({ rounds, seconds, warmUp, cases }) {
  const entries = Object.entries(cases);
  /** @type {Record<string, number[]>} */
  const samples = Object.fromEntries(entries.map(([name]) => [name, []]));
  const end = performance.now() + seconds * 1000;
  for (let round = -warmUp; round < rounds; round++) {
    if (round >= LEAST_ROUNDS && performance.now() >= end) break;
    const first = (round + warmUp) % entries.length;
    for (const [name, measure] of [...entries.slice(first), ...entries.slice(0, first)]) {
      await setTimeout(SETTLE_MS);
      const measured = await measure();
      if (round >= 0) samples[name]?.push(...[measured].flat());
    }
  }
  return samples;
}
