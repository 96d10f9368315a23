import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, URL } from "node:url";
import { GateConnection } from "../../dist/gate-processes/gate-connection.js";
import { Authority, newAuthority } from "../../dist/gate/tls/authority.js";
import { TOKEN_RULES } from "../../dist/policy/dlp/rules/token-rules.js";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const HOST = "api.example.test";

/**
 * @typedef {{ times: number[], firsts: number[], seconds: number }} Told what a client saw: milliseconds of each request, until its first bytes, and seconds of all
 * @typedef {{ pid: () => number, run: (load: object) => Promise<Told>, stop: () => Promise<void> }} Proxy
 * @typedef {{ process: import("node:child_process").ChildProcess, port: number, ca: string }} Upstream
 * @typedef {{ token: string, secret: string }} Values what is put in, and what must not leave
 */

/** @returns {Promise<Upstream>} */
export async function startUpstream() {
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

/** @param {import("../installation.mjs").Installation} installation @param {Upstream} upstream @param {Values} values @returns {Promise<Proxy>} */
export async function startGate({ cloche, home }, upstream, { token, secret }) {
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
  // What the gate tells is told to whoever came last: from here on that is the daemon again, as it is for everybody else.
  connection.close();
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
      await cloche.deleteWorkspace(id);
    },
  };
}

const soon = () => globalThis.AbortSignal.timeout(5000);

/** @param {string} folder */
const keeperOf = (folder) => readFileSync(join(folder, "gate.pid"), "latin1").split(" ")[0];

/** @param {string} directory @param {string} name of the addon @param {Upstream} upstream @param {Values} values @returns {Promise<Proxy>} */
export async function startMitm(directory, name, upstream, { token, secret }) {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const confdir = join(directory, name);
  const addon = join(directory, name + ".py");
  writeFileSync(addon, readFileSync(join(HERE, `${name}.py`)));
  const rules = join(directory, "rules.json");
  const told = TOKEN_RULES.map(({ keywords, pattern: { source, flags } }) => ({ keywords, pattern: source, flags }));
  writeFileSync(rules, JSON.stringify(told));
  const settings = [`confdir=${confdir}`, "ssl_insecure=true", "flow_detail=0", "connection_strategy=lazy"].flatMap(
    (one) => ["--set", one],
  );
  const child = spawn("mitmdump", ["-q", "--listen-host", "127.0.0.1", "-p", String(port), ...settings, "-s", addon], {
    env: {
      ...process.env,
      UPSTREAM_PORT: String(upstream.port),
      BENCH_TOKEN: token,
      BENCH_SECRET: secret,
      BENCH_RULES: rules,
    },
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

/** Without a proxy unless the load names one. @param {object} load @returns {Promise<Told>} */
export async function runClient(load) {
  const child = spawn(process.execPath, [join(HERE, "client.mjs"), JSON.stringify({ ...load, host: HOST })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (part) => (text += part));
  await once(child, "close");
  return JSON.parse(text);
}
