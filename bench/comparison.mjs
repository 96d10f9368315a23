import { median, p99 } from "./statistics.mjs";

/**
 * One line of the table: our samples beside a peer's.
 *
 * @param {object} given
 * @param {string} given.what
 * @param {readonly number[]} given.ours
 * @param {string} given.peer
 * @param {readonly number[]} given.peerSamples
 * @param {{ most: number, plus?: number, text: string }} [given.goal] the largest ratio that is fine, and so many milliseconds more
 * @param {string} [given.note]
 * @returns {import("./table.mjs").Row}
 */
export function compare({ what, ours, peer, peerSamples, goal, note }) {
  const ratio = median(ours) / median(peerSamples);
  return {
    what,
    unit: "ms",
    ours_p50: median(ours),
    ours_p99: p99(ours),
    peer,
    peer_p50: median(peerSamples),
    ratio,
    goal: goal?.text ?? null,
    holds: goal ? median(ours) <= goal.most * median(peerSamples) + (goal.plus ?? 0) : null,
    ...(note && { note }),
    details: { ours_samples: ours, peer_samples: peerSamples, peer_p99: p99(peerSamples) },
  };
}
