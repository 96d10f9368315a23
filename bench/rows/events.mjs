import { performance } from "node:perf_hooks";
import { median, p99 } from "../statistics.mjs";

const GOAL_MS = 5;
const WARM_UP = 100;
const WRITES_PER_ROUND = 20;

/** From the call that causes an event to the watcher that has it, the work of the call included. @param {import("../bench.mjs").Bench} bench @returns {Promise<import("../table.mjs").Row[]>} */
export async function measureEvents({ installation: { cloche }, rounds }) {
  const { workspace_id } = await cloche.createWorkspace({ environment: "host" });
  try {
    const watching = cloche.watch({ workspace_id, kinds: ["file.written"] });
    await watching.ready;
    const events = watching[Symbol.asyncIterator]();
    const samples = [];
    for (let count = 0; count < WARM_UP + rounds * WRITES_PER_ROUND; count++) {
      const seen = events.next();
      const start = performance.now();
      const written = cloche.writeWorkspaceFile(workspace_id, "note", { text: String(count) });
      await seen;
      if (count >= WARM_UP) samples.push(performance.now() - start);
      await written;
    }
    await watching.close();
    return [
      {
        what: "event, cause to watcher",
        unit: "ms",
        ours_p50: median(samples),
        ours_p99: p99(samples),
        peer: "-",
        peer_p50: null,
        ratio: null,
        goal: `≤ ${GOAL_MS} ms`,
        holds: median(samples) <= GOAL_MS,
        note: "from the call that writes a file to the event of it in a watcher; the writing is included",
        details: { samples },
      },
    ];
  } finally {
    await cloche.deleteWorkspace(workspace_id);
  }
}
