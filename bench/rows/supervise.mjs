import { spawn } from "node:child_process";
import { once } from "node:events";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { URL, fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import Database from "libsql";
import { median, p99 } from "../statistics.mjs";

const GOAL_MS = 100;
const ASKS = 20;
const MANY = 1000;
const KEYS = 40;
const PATIENCE_MS = 30_000;
const DOOR = "http://127.0.0.1:9100/mcp";
const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** An agent that asks for one host after the other, and waits for none of the answers. It says when it asked, in nanoseconds of the clock that all share. */
const AGENT = `
headers='-H content-type:application/json -H accept:application/json,text/event-stream'
sleep 1
for n in $(seq ${ASKS}); do
  body='{"jsonrpc":"2.0","id":'$n',"method":"tools/call","params":{"name":"egress-block","arguments":{"routes":[{"host":"ask-'$n'.example.test"}],"justification":"bench"}}}'
  echo "ask-$n $(date +%s%N)"
  curl -s --noproxy '*' --max-time 60 $headers --data-binary "$body" ${DOOR} >/dev/null 2>&1 &
  sleep 0.3
done
echo asked; exec sleep 1000`;

/** What an operator waits for at the terminal. @param {import("../bench.mjs").Bench} bench @returns {AsyncGenerator<import("../table.mjs").Row>} */
export async function* measureSupervise({ installation: { cloche, home, directory } }) {
  const manifest = {
    bottles: {
      bench: {
        environment: "host",
        agent_provider: { template: "command", settings: { argv: ["/bin/sh", "-c", AGENT] } },
      },
    },
    agents: { bench: { bottle: "bench", skills: [], prompt: "" } },
  };
  const where = { home, cache: join(directory, "cache") };
  const { identity } = await cloche.startRun(
    "bench",
    /** @type {import("../../src/sdk/options.ts").StartRunOptions} */ ({ manifest, terminal: { cols: 80, rows: 24 } }),
  );
  try {
    yield await untilShown(cloche, identity, where);
    await cloche.stopDaemon();
    multiply(join(home, "store.sqlite"), MANY);
    await cloche.listApprovals({});
    yield await withMany(where);
  } finally {
    await cloche.stopRun(identity);
    await cloche.cleanUp({ all: true });
  }
}

const blank = /** @type {const} */ ({ unit: "ms", peer: "-", peer_p50: null, ratio: null });

/** @param {import("../installation.mjs").Cloche} cloche @param {string} identity @param {{ home: string, cache: string }} where @returns {Promise<import("../table.mjs").Row>} */
async function untilShown(cloche, identity, where) {
  const screen = await Screen.open(where);
  const agent = await cloche.attachRun(identity, { terminal: { cols: 80, rows: 24 }, cursor: 0 });
  let text = "";
  for await (const { data } of agent.output()) {
    text += Buffer.from(data).toString();
    if (text.includes("asked\r\n")) break;
  }
  await agent.close();
  const samples = [];
  for (const [, ask = "", nanoseconds = ""] of text.matchAll(/(ask-\d+) (\d+)/g)) {
    const seen = await screen.seen(`${ask}.example.test`);
    samples.push(seen - Number(BigInt(nanoseconds) / 1000n) / 1000);
  }
  await screen.close();
  return {
    ...blank,
    what: "proposal: asked in the sandbox → on the operator's screen",
    ours_p50: median(samples),
    ours_p99: p99(samples),
    goal: `≤ ${GOAL_MS} ms`,
    holds: median(samples) <= GOAL_MS,
    note: "the start of curl in the sandbox included",
    details: { samples },
  };
}

/** @param {{ home: string, cache: string }} where @returns {Promise<import("../table.mjs").Row>} */
async function withMany(where) {
  const began = performance.now();
  const screen = await Screen.open(where);
  // The copies, and those that they were copied from. A key before they are there measures the start.
  await screen.seen(/Proposals: \d{4}/);
  const opened = performance.now() - began;
  const samples = [];
  for (let count = 0; count < KEYS; count++) {
    await setTimeout(50);
    samples.push(await screen.press(count % 2 === 0 ? "j" : "k"));
  }
  await screen.close();
  return {
    ...blank,
    what: `operator's screen with ${MANY} proposals: a key → the next picture`,
    ours_p50: median(samples),
    ours_p99: p99(samples),
    goal: `≤ ${GOAL_MS} ms`,
    holds: median(samples) <= GOAL_MS,
    note: `the first picture with all of them, the start of the program included, took ${opened.toFixed(0)} ms`,
    details: { samples, opened },
  };
}

/** Writes copies of the first proposal that waits, while no daemon has the store. @param {string} path @param {number} most */
function multiply(path, most) {
  const database = new Database(path);
  const { document } = /** @type {{ document: string }} */ (
    database.prepare("SELECT document FROM proposals WHERE status = 'pending' LIMIT 1").get()
  );
  const put = database.prepare(
    "INSERT INTO proposals (proposal_id, workspace_id, identity, kind, status, content_hash, created_at, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (let count = 0; count < most; count++) {
    const one = JSON.parse(document);
    const number = String(count).padStart(4, "0");
    one.proposal_id = `${one.proposal_id.slice(0, -4)}${number}`;
    one.ask_ids = [`bench-${number}`];
    one.content_hash = `${one.content_hash.slice(0, -4)}${number}`;
    const { proposal_id, workspace_id, identity, kind, status, content_hash, created_at } = one;
    put.run([proposal_id, workspace_id, identity, kind, status, content_hash, created_at, JSON.stringify(one)]);
  }
  database.close();
}

/** `cloche supervise` at a terminal of its own. */
class Screen {
  #shown = "";
  /** @type {{ at: number, end: number }[]} */
  #parts = [];
  #heard = new Set();
  #program;

  /** @param {{ home: string, cache: string }} where */
  static async open({ home, cache }) {
    const screen = new Screen(home, cache);
    await screen.seen("cloche supervise");
    return screen;
  }

  /** @param {string} home @param {string} cache */
  constructor(home, cache) {
    const command = `stty cols 120 rows 40; exec ${process.execPath} ${CLI} supervise`;
    this.#program = spawn("script", ["-qfec", command, "/dev/null"], {
      env: { ...process.env, CLOCHE_HOME: home, CLOCHE_CACHE: cache, TERM: "xterm-256color", SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#program.stdout.on("data", (data) => {
      this.#shown += stripVTControlCharacters(data.toString());
      this.#parts.push({ at: performance.timeOrigin + performance.now(), end: this.#shown.length });
      for (const hear of this.#heard) hear();
    });
  }

  /** When a text was on the screen first, in milliseconds since 1970. @param {string | RegExp} text */
  async seen(text) {
    const found = () => (typeof text === "string" ? this.#shown.indexOf(text) : this.#shown.search(text));
    await this.#until(() => found() >= 0, String(text));
    const end = found() + (typeof text === "string" ? text.length : 1);
    return this.#parts.find((part) => part.end >= end)?.at ?? Number.NaN;
  }

  /** From a key to the next bytes that are drawn. @param {string} key */
  async press(key) {
    const before = this.#parts.length;
    const began = performance.now();
    this.#program.stdin.write(key);
    await this.#until(() => this.#parts.length > before, `an answer to ${key}`);
    return performance.now() - began;
  }

  /** @param {() => boolean} holds @param {string} what */
  async #until(holds, what) {
    if (holds()) return;
    const shown = new Promise((resolve) => {
      const hear = () => {
        if (!holds()) return;
        this.#heard.delete(hear);
        resolve(true);
      };
      this.#heard.add(hear);
    });
    if (await Promise.race([shown, setTimeout(PATIENCE_MS, false, { ref: false })])) return;
    throw new Error(`The operator's screen did not show ${what}:\n${this.#shown.slice(-2000)}`);
  }

  /** Asks it to quit. */
  async close() {
    if (this.#program.exitCode !== null) return;
    const ended = once(this.#program, "exit");
    this.#program.stdin.write("q");
    await ended;
  }
}
