import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { interleave } from "../interleave.mjs";
import { median } from "../statistics.mjs";

const SMALL_FILES = 1000;
const FILES_PER_SECOND = 500;
const LARGE_BYTES = 200_000_000;
const MB_PER_SECOND = 300;

/** @param {import("../bench.mjs").Bench} bench */
export async function* measureFiles(bench) {
  const { cloche } = bench.installation;
  const { workspace_id } = await cloche.createWorkspace({ environment: "host" });
  try {
    yield await measureSmall(bench, workspace_id);
    yield* await measureLarge(bench, workspace_id);
  } finally {
    await cloche.deleteWorkspace(workspace_id);
  }
}

/** One call after the other, as an agent reads. @param {import("../bench.mjs").Bench} bench @param {string} id */
async function measureSmall({ installation: { cloche }, rounds, seconds }, id) {
  const write = `mkdir small && cd small && for i in $(seq ${SMALL_FILES}); do echo "content of $i" >$i; done`;
  const { exit_code } = await cloche.execWorkspace(id, { command: write });
  if (exit_code !== 0) throw new Error("the small files could not be written");
  const paths = Array.from({ length: SMALL_FILES }, (_, i) => `small/${i + 1}`);
  const read = async (/** @type {string} */ path) => {
    const { content } = await cloche.readWorkspaceFile(id, path);
    if (!content.startsWith("content of")) throw new Error(`${path} has ${JSON.stringify(content)}`);
  };
  const samples = await interleave({
    rounds: Math.max(3, Math.ceil(rounds / 2)),
    seconds: seconds / 2,
    warmUp: 1,
    cases: {
      inTurn: async () => {
        const start = performance.now();
        for (const path of paths) await read(path);
        return (SMALL_FILES / (performance.now() - start)) * 1000;
      },
      together: async () => {
        const start = performance.now();
        await Promise.all(paths.map(read));
        return (SMALL_FILES / (performance.now() - start)) * 1000;
      },
    },
  });
  const { inTurn = [], together = [] } = samples;
  return row({
    what: `read of ${SMALL_FILES} small files`,
    unit: "files/s",
    samples: inTurn,
    least: FILES_PER_SECOND,
    note: `one call after the other; all at once it is ${median(together).toFixed(0)} files/s`,
  });
}

/** @param {import("../bench.mjs").Bench} bench @param {string} id */
async function measureLarge({ installation: { cloche, directory }, rounds, seconds, say }, id) {
  say("writing a file of 200 MB");
  const source = join(directory, "large-file");
  const output = join(directory, "large-file-out");
  mkdirSync(source);
  const content = randomBytes(LARGE_BYTES);
  const file = join(source, "file");
  writeFileSync(file, content);
  const rate = async (/** @type {() => Promise<unknown>} */ work) => {
    const start = performance.now();
    await work();
    return LARGE_BYTES / 1000 / (performance.now() - start);
  };
  const push = () => cloche.pushWorkspaceSync(id, source);
  const samples = await interleave({
    rounds: Math.max(3, Math.ceil(rounds / 4)),
    seconds: seconds / 2,
    warmUp: 1,
    cases: {
      cold: async () => {
        content.writeUInt32LE(Math.floor(Math.random() * 2 ** 32)); // a state of the folder that was never seen
        writeFileSync(file, content);
        return await rate(push);
      },
      in: async () => {
        await push(); // so that it is known whatever case came before
        return await rate(push);
      },
      out: async () => {
        const measured = await rate(() => cloche.exportWorkspace(id, "/workspace/file", { output_path: output }));
        if (statSync(output).size !== LARGE_BYTES) throw new Error("the exported file has another size");
        rmSync(output);
        return measured;
      },
    },
  });
  rmSync(source, { recursive: true });
  return [
    row({
      what: "one file of 200 MB, in",
      unit: "MB/s",
      samples: samples["in"] ?? [],
      least: MB_PER_SECOND,
      note:
        "the whole call of sync push, of a folder that was imported before: its scan, and the file's way from the import into the sandbox; " +
        `with the import of a changed file first it is ${median(samples["cold"] ?? []).toFixed(0)} MB/s`,
    }),
    row({
      what: "one file of 200 MB, out",
      unit: "MB/s",
      samples: samples["out"] ?? [],
      least: MB_PER_SECOND,
      note: "the whole call of export, to a new file on the host",
    }),
  ];
}

/**
 * @param {{ what: string, unit: import("../table.mjs").Unit, samples: readonly number[], least: number, note: string }} given
 * @returns {import("../table.mjs").Row}
 */
function row({ what, unit, samples, least, note }) {
  return {
    what,
    unit,
    ours_p50: median(samples),
    ours_p99: null,
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: `≥ ${least} ${unit}`,
    holds: median(samples) >= least,
    note,
    details: { samples },
  };
}
