import { execFile, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, URL } from "node:url";
import { promisify } from "node:util";
import { interleave } from "../interleave.mjs";
import { processesNaming, descendants, proportionalKib, residentKib } from "../processes.mjs";
import { median, p99 } from "../statistics.mjs";
import { timed } from "../timed.mjs";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const BACKENDS = /** @type {const} */ (["container", "vm"]);
const GOAL_MS = { container: 150, vm: 400 };
/** 70 MB. */
const MEMORY_MIB = 66.7;
const AT_ONCE = 10;
const IDLE = 4;
/** For what a start has taken to be made anew: a gate, and a machine. */
const READY_MS = { container: 2000, vm: 2500 };
const ENVIRONMENT = { container: "host", vm: "debian:12" };
/** The agent: says a word, and waits. */
const ARGV = ["/bin/sh", "-c", "echo up; exec sleep 1000"];
const TERMINAL = { cols: 80, rows: 24 };

/** Runs of agents. @param {import("../bench.mjs").Bench} bench @returns {AsyncGenerator<import("../table.mjs").Row>} */
export async function* measureBottle({ installation, rounds, seconds, say }) {
  const { cloche } = installation;
  const run = promisify(execFile);
  say("making what a first start makes");
  for (const backend of BACKENDS) await firstByte(cloche, backend);
  writeFiles(installation.home);
  const samples = await interleave({
    rounds,
    seconds: seconds * 0.7,
    warmUp: 1,
    cases: {
      container: () => whenReady("container", () => firstByte(cloche, "container")),
      vm: () => whenReady("vm", () => firstByte(cloche, "vm")),
      typed_container: () => whenReady("container", () => typed(installation, "container")),
      typed_vm: () => whenReady("vm", () => typed(installation, "vm")),
      own: () => timed(() => run("/bin/sh", ["-c", "echo up"])),
    },
  });
  const own = median(samples["own"] ?? []);
  for (const backend of BACKENDS) {
    const over = (samples[backend] ?? []).map((ms) => Math.max(0, ms - own));
    yield {
      ...blank,
      what: `run: start → first byte of the agent's terminal, ${backend}`,
      unit: "ms",
      ours_p50: median(over),
      ours_p99: p99(over),
      goal: `≤ ${GOAL_MS[backend]} ms`,
      holds: median(over) <= GOAL_MS[backend],
      note: `by the SDK, warm, a gate and a prompt included; over the ${own.toFixed(1)} ms that the agent's program takes by itself`,
      details: { over },
    };
  }
  for (const backend of BACKENDS) {
    const over = (samples[`typed_${backend}`] ?? []).map((ms) => Math.max(0, ms - own));
    yield {
      ...blank,
      what: `run: \`cloche start\` typed → first byte of the agent's terminal, ${backend}`,
      unit: "ms",
      ours_p50: median(over),
      ours_p99: p99(over),
      goal: "-",
      holds: null,
      note: "the same by the command, on a terminal: with the start of Node and of a shell",
      details: { over },
    };
  }
  yield await together(cloche);
  yield await idle(installation);
}

const blank = /** @type {const} */ ({ peer: "-", peer_p50: null, ratio: null });

/** @param {"container" | "vm"} backend */
const manifestOf = (backend) => ({
  bottles: {
    bench: {
      environment: ENVIRONMENT[backend],
      agent_provider: { template: "command", settings: { argv: ARGV } },
      egress: { routes: [{ host: "docs.example.test" }] },
    },
  },
  agents: { bench: { bottle: "bench", skills: [], prompt: "Be quick." } },
});

/** @param {import("../installation.mjs").Cloche} cloche @param {"container" | "vm"} backend */
async function start(cloche, backend) {
  const options = { manifest: manifestOf(backend), backend, terminal: TERMINAL };
  return await cloche.startRun("bench", /** @type {import("../../src/sdk/options.ts").StartRunOptions} */ (options));
}

/** @param {import("../installation.mjs").Cloche} cloche @param {string} identity */
async function remove(cloche, identity) {
  await cloche.stopRun(identity);
  await cloche.cleanUp({ all: true });
}

/** @param {import("../installation.mjs").Cloche} cloche @param {"container" | "vm"} backend */
async function firstByte(cloche, backend) {
  const began = performance.now();
  const { identity } = await start(cloche, backend);
  const stream = await cloche.attachRun(identity, { terminal: TERMINAL, cursor: 0 });
  await stream.output()[Symbol.asyncIterator]().next();
  const ms = performance.now() - began;
  await stream.close();
  await remove(cloche, identity);
  return ms;
}

/** The same agents as files, for the command. @param {string} home */
function writeFiles(home) {
  for (const folder of ["bottles", "agents"]) mkdirSync(join(home, folder), { recursive: true });
  for (const backend of BACKENDS) {
    const { bottles, agents } = manifestOf(backend);
    const front = Object.entries({ backend, ...bottles.bench }).map(
      ([key, value]) => `${key}: ${JSON.stringify(value)}`,
    );
    writeFileSync(join(home, `bottles/bench-${backend}.md`), `---\n${front.join("\n")}\n---\n`);
    writeFileSync(
      join(home, `agents/bench-${backend}.md`),
      `---\nbottle: bench-${backend}\n---\n${agents.bench.prompt}\n`,
    );
  }
}

/** By the command, on a terminal that `script` makes. @param {import("../installation.mjs").Installation} installation @param {"container" | "vm"} backend */
async function typed({ cloche, home, directory }, backend) {
  const began = performance.now();
  const line = `exec "${process.execPath}" "${CLI}" start bench-${backend} --yes`;
  const env = { ...process.env, CLOCHE_HOME: home, CLOCHE_CACHE: join(directory, "cache") };
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env,
    cwd: directory,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise((done) => child.once("close", done));
  let shown = "";
  for await (const data of child.stdout) {
    shown += String(data);
    if (/^up\r?$/m.test(shown)) break;
  }
  const ms = performance.now() - began;
  if (!/^up\r?$/m.test(shown)) throw new Error(`\`cloche start\` showed no agent: ${shown}`);
  for (const { identity } of (await cloche.listRuns()).runs) await cloche.stopRun(identity);
  await ended;
  await cloche.cleanUp({ all: true });
  return ms;
}

/** @template T @param {"container" | "vm"} backend @param {() => Promise<T>} work */
async function whenReady(backend, work) {
  await setTimeout(READY_MS[backend]);
  return await work();
}

/** @param {import("../installation.mjs").Cloche} cloche @returns {Promise<import("../table.mjs").Row>} */
async function together(cloche) {
  const began = performance.now();
  const runs = await Promise.all(Array.from({ length: AT_ONCE }, () => start(cloche, "container")));
  const ms = performance.now() - began;
  const { count } = await cloche.listRuns();
  await Promise.all(runs.map(({ identity }) => cloche.stopRun(identity)));
  await cloche.cleanUp({ all: true });
  return {
    ...blank,
    what: `run: ${AT_ONCE} agents started at once`,
    unit: "ms",
    ours_p50: ms,
    ours_p99: null,
    goal: "all work",
    holds: count === AT_ONCE,
  };
}

/** @param {import("../installation.mjs").Installation} installation @returns {Promise<import("../table.mjs").Row>} */
async function idle({ cloche, home, daemonPid }) {
  const daemon = await daemonPid();
  const own = () =>
    new Set([...descendants(daemon), ...processesNaming(home).flatMap((pid) => [pid, ...descendants(pid)])]);
  // A gate waits for the next run both times, so what four runs add is four of each.
  const sums = () => {
    const pids = [...own()];
    /** @param {(pid: number) => number} kib */
    const mib = (kib) => pids.reduce((sum, pid) => sum + kib(pid), 0) / 1024;
    return { count: pids.length, shared: mib(proportionalKib), resident: mib(residentKib) };
  };
  const before = await whenReady("container", () => Promise.resolve(sums()));
  const runs = [];
  for (let count = 0; count < IDLE; count++) runs.push(await start(cloche, "container"));
  const after = await whenReady("container", () => Promise.resolve(sums()));
  const mib = (after.shared - before.shared) / IDLE;
  const resident = (after.resident - before.resident) / IDLE;
  await Promise.all(runs.map(({ identity }) => cloche.stopRun(identity)));
  await cloche.cleanUp({ all: true });
  return {
    ...blank,
    what: "run: memory of an idle one with its gate",
    unit: "MiB",
    ours_p50: mib,
    ours_p99: null,
    goal: `≤ ${MEMORY_MIB} MiB (70 MB)`,
    holds: mib <= MEMORY_MIB,
    note: `what one more adds to the PSS of all, in ${(after.count - before.count) / IDLE} processes: sandbox, agent, gate and its keeper; resident, with shared pages in full for each: ${resident.toFixed(1)} MiB`,
  };
}
