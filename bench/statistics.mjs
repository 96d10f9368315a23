/** Nearest rank, so that what is reported was really measured. @param {readonly number[]} samples @param {number} share */
export function percentile(samples, share) {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  return /** @type {number} */ (sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]);
}

/** @param {readonly number[]} samples */
export const median = (samples) => percentile(samples, 0.5);
/** @param {readonly number[]} samples */
export const p99 = (samples) => percentile(samples, 0.99);
