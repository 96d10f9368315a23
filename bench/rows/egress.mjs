import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, URL } from "node:url";
import { GateConnection } from "../../dist/gate-processes/gate-connection.js";
import { Authority, newAuthority } from "../../dist/gate/tls/authority.js";
import { median, p99 } from "../statistics.mjs";

const HERE = fileURLToPath(new URL("../egress/", import.meta.url));
const HOST = "api.example.test";
const TICKS = 100; // of the kernel's clock, in a second
const CASES = /** @type {const} */ ([
  { what: "POST of 4 kB, 16 connections", connections: 16, requests: 1500, size: 4096, path: "/", goal: 1 / 4 },
  {
    what: "POST of 64 kB, answered with 200 events, 16 connections",
    connections: 16,
    requests: 400,
    size: 65_536,
    path: "/sse",
    goal: 1 / 3,
  },
  { what: "POST of 1 MB, 4 connections", connections: 4, requests: 60, size: 1_048_576, path: "/", goal: 1 / 3 },
]);
/** A gate is code that gets fast while it runs, mitmproxy is not: each is measured when it is as fast as it gets. */
const WARM = { gate: 2500, mitm: 50 };
const MANY_BYTES = 200;
const MANY_CASES = /** @type {const} */ ([
  { what: "200 MB up", load: { connections: 1, requests: 1, size: 1_000_000, repeat: MANY_BYTES, path: "/" } },
  { what: "200 MB down", load: { connections: 1, requests: 1, size: 100, path: "/much" } },
]);
const ONE = { connections: 1, requests: 300, size: 4096, path: "/" };

/**
 * The gate beside mitmproxy: the same upstream, the same client, interception, a credential put in and the body looked at. The gate's client is in a sandbox, so its
 * way is longer.
 *
 * @param {import("../bench.mjs").Bench} bench @returns {AsyncGenerator<import("../table.mjs").Row>}
 */
export async function* measureEgress({ installation }) {
  const token = `tok-${randomBytes(20).toString("hex")}`;
  const secret = `sec-${randomBytes(20).toString("hex")}`;
  const upstream = await startUpstream();
  const gate = await startGate(installation, upstream, token, secret);
  const mitm = await startMitm(installation.directory, upstream, token, secret);
  try {
    yield limit("egress: memory of an idle gate", memoryMiB(gate.pid(), "VmRSS"), "MiB", 60);
    for (const { what, goal, ...load } of CASES) {
      const isFirst = what === CASES[0].what;
      await gate.run({ ...load, requests: isFirst ? WARM.gate : load.requests });
      await mitm.run({ ...load, requests: WARM.mitm });
      const [ours, peer] = [await measured(gate, load), await measured(mitm, load)];
      yield row(`egress: CPU of the proxy for a ${what}`, ours.cpuMs, peer.cpuMs, goal, ours);
      if (what !== CASES[0].what) continue;
      yield {
        ...row("egress: 1 / throughput, 16 connections", 1000 / ours.rate, 1000 / peer.rate, 1 / 3, ours),
        note: `${ours.rate.toFixed(0)} beside ${peer.rate.toFixed(0)} requests a second`,
      };
      yield row("egress: p99 of a request, 16 connections", ours.p99, peer.p99, 2 / 3, ours);
    }
    const direct = await runClient({ ...ONE, direct: upstream.port, ca: upstream.ca });
    const [ours, peer] = [await measured(gate, ONE), await measured(mitm, ONE)];
    const base = median(direct.times);
    yield row("egress: added p50, one connection", ours.p50 - base, peer.p50 - base, 1 / 3, ours);
    const streamed = { ...ONE, requests: 60, path: "/sse" };
    const straight = await runClient({ ...streamed, direct: upstream.port, ca: upstream.ca });
    const later = median((await gate.run(streamed)).firsts) - median(straight.firsts);
    yield limit("egress: first bytes of a streamed answer, later than direct", later, "ms", 5);
    for (const { what, load } of MANY_CASES) {
      forgetPeak(gate.pid());
      const { seconds } = await gate.run(load);
      const rate = MANY_BYTES / seconds;
      yield { ...limit(`egress: ${what}, speed`, rate, "MB/s", 100), goal: "≥ 100 MB/s", holds: rate >= 100 };
      yield limit(`egress: ${what}, most memory of the gate`, memoryMiB(gate.pid(), "VmHWM"), "MiB", 120);
    }
  } finally {
    await mitm.stop();
    await gate.stop();
    upstream.process.kill();
  }
}

/** @param {string} what @param {number} ours @param {number} peer @param {number} goal @param {object} details @returns {import("../table.mjs").Row} */
function row(what, ours, peer, goal, details) {
  const ratio = ours / peer;
  return {
    what,
    unit: "ms",
    ours_p50: ours,
    ours_p99: null,
    peer: "mitmproxy",
    peer_p50: peer,
    ratio,
    goal: `≤ 1/${(1 / goal).toFixed(1).replace(".0", "")}`,
    holds: ratio <= goal,
    details: { ...details },
  };
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

/** What it had at most is counted anew. @param {number} pid */
const forgetPeak = (pid) => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** @typedef {{ pid: () => number, run: (load: object) => Promise<{ times: number[], firsts: number[], seconds: number }>, stop: () => Promise<void> }} Proxy */

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

async function startUpstream() {
  const keys = newAuthority("bench");
  const authority = new Authority("bench", keys);
  const leaf = authority.files(HOST);
  const child = spawn(process.execPath, [join(HERE, "upstream.mjs")], {
    env: { ...process.env, UPSTREAM_KEYS: `${leaf.key}|${leaf.chain}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { process: child, port: Number(line), ca: keys.certificate };
}

/** @param {import("../installation.mjs").Installation} installation @param {{ port: number, ca: string }} upstream @param {string} token @param {string} secret @returns {Promise<Proxy>} */
async function startGate({ cloche, home }, upstream, token, secret) {
  const { workspace_id: id } = await cloche.createWorkspace({
    environment: "host",
    backend: "container",
    network_policy: "egress",
    allow_hosts: [HOST],
  });
  const folder = join(home, "workspaces", id, "gate");
  const connection = await GateConnection.open(join(folder, "control.sock"));
  const first = await connection.when(() => true, soon());
  const socket = connection.report?.guest_socket ?? null;
  const route = {
    host: HOST,
    ports: [443],
    connect: `127.0.0.1:${upstream.port}`,
    ca: upstream.ca,
    tls: "intercept",
    matches: null,
    credentials: [{ name: "T", token, scheme: "Bearer", header: null, query: null, renewable: false }],
    pass: [],
    dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "block" },
    provider: null,
  };
  connection.order({
    revision: (first?.revision ?? 0) + 1,
    guest_socket: socket,
    doors: [{ port: 9099, to: { kind: "egress" } }],
    egress: {
      log: "blocks",
      routes: [/** @type {any} */ (route)],
      guarded: [{ kind: "known_secrets", name: "S", value: secret }],
      way_out: { proxy: null, ca: null },
    },
  });
  await connection.when(({ doors }) => doors.every(({ state }) => state === "open"), soon());
  const ca = connection.report?.egress?.certificate ?? "";
  const client = readFileSync(join(HERE, "client.mjs"), "utf8");
  await cloche.writeWorkspaceFile(id, "client.mjs", { text: client });
  return {
    pid: () =>
      Number(
        readFileSync(`/proc/${keeperOf(folder)}/task/${keeperOf(folder)}/children`, "latin1")
          .trim()
          .split(" ")[0],
      ),
    async run(load) {
      const argument = JSON.stringify({ ...load, proxy: 9099, host: HOST, ca });
      const { stdout, stderr } = await cloche.execWorkspace(id, {
        command: ["node", "client.mjs", argument],
        timeout_seconds: 120,
      });
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    },
    async stop() {
      connection.close();
      await cloche.deleteWorkspace(id);
    },
  };
}

const soon = () => globalThis.AbortSignal.timeout(5000);

/** @param {string} folder */
const keeperOf = (folder) => readFileSync(join(folder, "gate.pid"), "latin1").split(" ")[0];

/** @param {string} directory @param {{ port: number }} upstream @param {string} token @param {string} secret @returns {Promise<Proxy>} */
async function startMitm(directory, upstream, token, secret) {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const confdir = join(directory, "mitm");
  const addon = join(directory, "mitm-addon.py");
  writeFileSync(addon, readFileSync(join(HERE, "mitm-addon.py")));
  const settings = [`confdir=${confdir}`, "ssl_insecure=true", "flow_detail=0", "connection_strategy=lazy"].flatMap(
    (one) => ["--set", one],
  );
  const child = spawn("mitmdump", ["-q", "--listen-host", "127.0.0.1", "-p", String(port), ...settings, "-s", addon], {
    env: { ...process.env, UPSTREAM_PORT: String(upstream.port), BENCH_TOKEN: token, BENCH_SECRET: secret },
    stdio: ["ignore", "ignore", "inherit"],
  });
  let ca = "";
  for (let tries = 0; ca === "" && tries < 300; tries++) {
    await setTimeout(100);
    try {
      ca = readFileSync(join(confdir, "mitmproxy-ca-cert.pem"), "utf8");
    } catch {
      // not there yet
    }
  }
  await setTimeout(1000);
  return {
    pid: () => child.pid ?? 0,
    run: (load) => runClient({ ...load, proxy: port, ca }),
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** @param {object} load */
async function runClient(load) {
  const child = spawn(process.execPath, [join(HERE, "client.mjs"), JSON.stringify({ ...load, host: HOST })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (part) => (text += part));
  await once(child, "close");
  return JSON.parse(text);
}
