import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { runClient, startGate, startMitm, startUpstream } from "../egress/proxies.mjs";
import { interleave } from "../interleave.mjs";
import { median, p99 } from "../statistics.mjs";

/** @typedef {import("../egress/proxies.mjs").Proxy} Proxy */

const TICKS = 100; // of the kernel's clock, in a second
const CHEAP = "mitmproxy";
const SAME_WORK = "mitmproxy, same work";
/**
 * Beside which of the two a goal is meant: one that looks for one value and does nothing else, where the work that is compared is that of a proxy; and one that looks for
 * what the gate looks for, where looking is most of it.
 */
const CASES = /** @type {const} */ ([
  {
    what: "POST of 4 kB, 16 connections",
    load: { connections: 16, requests: 600, size: 4096, path: "/" },
    goal: { beside: CHEAP, most: 1 / 4 },
  },
  {
    what: "POST of 64 kB, answered with 200 events, 16 connections",
    load: { connections: 16, requests: 120, size: 65_536, path: "/sse" },
    goal: { beside: CHEAP, most: 1 / 3 },
  },
  {
    what: "POST of 1 MB, 4 connections",
    load: { connections: 4, requests: 24, size: 1_048_576, path: "/" },
    goal: { beside: SAME_WORK, most: 1 / 3 },
  },
]);
const ROUNDS = 3;
/** A gate is code that gets fast while it runs, mitmproxy is not: each is measured when it is as fast as it gets. */
const WARM = { gate: 2500, one: 600, mitm: 50 };
const MANY_BYTES = 200;
const MANY_CASES = /** @type {const} */ ([
  { what: "200 MB up", load: { connections: 1, requests: 1, size: 1_000_000, repeat: MANY_BYTES, path: "/" } },
  { what: "200 MB down", load: { connections: 1, requests: 1, size: 100, path: "/much" } },
]);
const DROPPED = 1000;
const SETTLE_MS = 500;
const ONE = { connections: 1, requests: 200, size: 4096, path: "/" };

/**
 * The gate beside mitmproxy: the same upstream, the same client, interception, a credential put in and the body looked at. The gate's client is in a sandbox, so its
 * way is longer.
 *
 * @param {import("../bench.mjs").Bench} bench @returns {AsyncGenerator<import("../table.mjs").Row>}
 */
export async function* measureEgress({ installation }) {
  const values = { token: `tok-${randomBytes(20).toString("hex")}`, secret: `sec-${randomBytes(20).toString("hex")}` };
  const { directory } = installation;
  const upstream = await startUpstream();
  const gate = await startGate(installation, upstream, values);
  const cheap = await startMitm(directory, "mitm-addon", upstream, values);
  const same = await startMitm(directory, "mitm-same-work", upstream, values);
  const proxies = { gate, [CHEAP]: cheap, [SAME_WORK]: same };
  try {
    yield limit("egress: memory of an idle gate", memoryMiB(gate.pid(), "VmRSS"), "MiB", 57.2);
    await gate.run({ ...CASES[0].load, requests: WARM.gate });
    for (const { what, load, goal } of CASES) {
      await gate.run(load);
      for (const peer of [cheap, same]) await peer.run({ ...load, requests: Math.min(WARM.mitm, load.requests) });
      const found = await measureAll(proxies, load);
      yield* beside(`egress: CPU of the proxy for a ${what}`, found, ({ cpuMs }) => cpuMs, goal);
      if (what !== CASES[0].what) continue;
      const third = { beside: CHEAP, most: 1 / 3 };
      yield* beside("egress: 1 / throughput, 16 connections", found, ({ rate }) => 1000 / rate, third);
      yield* beside("egress: p99 of a request, 16 connections", found, (one) => one.p99, { ...third, most: 2 / 3 });
    }
    const straight = { pid: () => upstream.process.pid ?? 0, run: runDirect(upstream), stop: async () => undefined };
    await gate.run({ ...ONE, requests: WARM.one });
    for (const peer of [cheap, same]) await peer.run({ ...ONE, requests: WARM.mitm });
    const found = await measureAll({ ...proxies, straight }, ONE);
    const base = found["straight"]?.p50 ?? 0;
    yield* beside("egress: added p50, one connection", found, ({ p50 }) => p50 - base, { beside: CHEAP, most: 1 / 3 });
    const streamed = { ...ONE, requests: 60, path: "/sse" };
    const direct = await runDirect(upstream)(streamed);
    const later = median((await gate.run(streamed)).firsts) - median(direct.firsts);
    yield limit("egress: first bytes of a streamed answer, later than direct", later, "ms", 5);
    for (const { what, load } of MANY_CASES) {
      forgetPeak(gate.pid());
      const { seconds } = await gate.run(load);
      const rate = MANY_BYTES / seconds;
      yield { ...limit(`egress: ${what}, speed`, rate, "MB/s", 100), goal: "≥ 100 MB/s", holds: rate >= 100 };
      yield limit(`egress: ${what}, most memory of the gate`, memoryMiB(gate.pid(), "VmHWM"), "MiB", 120);
    }
    const before = socketsOf(gate.pid());
    await gate.run({ connections: 0, requests: 0, size: 0, path: "/", drop: DROPPED });
    await setTimeout(SETTLE_MS);
    const left = socketsOf(gate.pid()) - before;
    yield limit(`egress: left of ${DROPPED} connections that were opened and dropped`, left, "sockets", 0);
  } finally {
    await same.stop();
    await cheap.stop();
    await gate.stop();
    upstream.process.kill();
  }
}

/** @param {import("../egress/proxies.mjs").Upstream} upstream @returns {Proxy["run"]} */
const runDirect = (upstream) => (load) => runClient({ ...load, direct: upstream.port, ca: upstream.ca });

/**
 * @typedef {{ cpuMs: number, rate: number, p50: number, p99: number }} Measured
 * @param {Record<string, Proxy>} proxies @param {{ requests: number }} load @returns {Promise<Record<string, Measured>>} medians of some rounds, in turns
 */
async function measureAll(proxies, load) {
  /** @type {Record<string, Measured[]>} */
  const rounds = {};
  const cases = Object.entries(proxies).map(([name, proxy]) => [
    name,
    async () => {
      (rounds[name] ??= []).push(await measured(proxy, load));
      return 0;
    },
  ]);
  await interleave({ rounds: ROUNDS, seconds: Infinity, warmUp: 0, cases: Object.fromEntries(cases) });
  /** @param {Measured[]} all @param {keyof Measured} key */
  const middle = (all, key) => median(all.map((one) => one[key]));
  return Object.fromEntries(
    Object.entries(rounds).map(([name, all]) => [
      name,
      { cpuMs: middle(all, "cpuMs"), rate: middle(all, "rate"), p50: middle(all, "p50"), p99: middle(all, "p99") },
    ]),
  );
}

/**
 * A row for each of the two peers; one of them has the goal.
 *
 * @param {string} what @param {Record<string, Measured>} found @param {(one: Measured) => number} read @param {{ beside: string, most: number }} goal
 * @returns {Generator<import("../table.mjs").Row>}
 */
function* beside(what, found, read, goal) {
  const ours = found["gate"];
  for (const peer of [CHEAP, SAME_WORK]) {
    const theirs = found[peer];
    if (!ours || !theirs) continue;
    const ratio = read(ours) / read(theirs);
    const isGoal = peer === goal.beside;
    yield {
      what,
      unit: "ms",
      ours_p50: read(ours),
      ours_p99: null,
      peer,
      peer_p50: read(theirs),
      ratio,
      goal: isGoal ? `≤ 1/${(1 / goal.most).toFixed(1).replace(".0", "")}` : null,
      holds: isGoal ? ratio <= goal.most : null,
      details: { ours, theirs },
    };
  }
}

/** @param {string} what @param {number} ours @param {import("../table.mjs").Unit} unit @param {number} most @returns {import("../table.mjs").Row} */
const limit = (what, ours, unit, most) => ({
  what,
  unit,
  ours_p50: ours,
  ours_p99: null,
  peer: "-",
  peer_p50: null,
  ratio: null,
  goal: `≤ ${most} ${unit}`,
  holds: ours <= most,
});

/** @param {number} pid @param {"VmRSS" | "VmHWM"} which now, or at most so far */
function memoryMiB(pid, which) {
  const line = readFileSync(`/proc/${pid}/status`, "latin1")
    .split("\n")
    .find((one) => one.startsWith(which));
  return Number(line?.replaceAll(/\D/g, "")) / 1024;
}

/** @param {number} pid */
const socketsOf = (pid) =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:")).length;

/** What it had at most is counted anew. @param {number} pid */
const forgetPeak = (pid) => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** @param {Proxy} proxy @param {{ requests: number }} load */
async function measured(proxy, load) {
  const before = cpuMs(proxy.pid());
  const { times, seconds } = await proxy.run(load);
  return {
    cpuMs: (cpuMs(proxy.pid()) - before) / load.requests,
    rate: load.requests / seconds,
    p50: median(times),
    p99: p99(times),
  };
}

/** @param {number} pid */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}
