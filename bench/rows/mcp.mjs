import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath, URL } from "node:url";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { median, p99 } from "../statistics.mjs";
import { timeToEnd } from "../timed-command.mjs";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const START_GOAL = { most: 2.5, text: "≤ 2.5" };
const EXEC_GOAL_MS = 6;
const LIST_GOAL_KB = 12;
const WARM_UP_EXECS = 300;
const EXECS_PER_ROUND = 50;

/** A server as a host starts it, spoken to in lines. */
class Host {
  /** @param {NodeJS.ProcessEnv} env */
  constructor(env) {
    this.began = performance.now();
    this.process = spawn(process.execPath, [CLI, "mcp", "serve", "--no-project-source", "--all-workspaces"], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.next = 1;
    /** @type {Map<number, (result: Record<string, any>) => void>} */
    this.waiting = new Map();
    createInterface({ input: this.process.stdout }).on("line", (line) => {
      const { id, result } = JSON.parse(line);
      this.waiting.get(id)?.(result);
    });
  }

  /** @param {string} method @param {object} [params] @returns {Promise<Record<string, any>>} */
  ask(method, params = {}) {
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** Until the answer to the first message, from before the process was started. */
  async open() {
    const clientInfo = { name: "bench", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    return performance.now() - this.began;
  }

  async close() {
    this.process.stdin.end();
    await once(this.process, "close");
  }
}

/** @param {import("../bench.mjs").Bench} bench @returns {AsyncGenerator<import("../table.mjs").Row>} */
export async function* measureMcp({ installation: { cloche }, rounds, seconds }) {
  const env = { ...process.env, CLOCHE_HOME: cloche.home };
  const starts = await interleave({
    rounds: rounds * 2,
    seconds: seconds / 2,
    warmUp: 2,
    cases: {
      ours: async () => {
        const host = new Host(env);
        const ms = await host.open();
        await host.close();
        return ms;
      },
      node: () => timeToEnd([process.execPath, "-e", "0"]),
    },
  });
  yield compare({
    what: "mcp serve → initialize",
    ours: starts["ours"] ?? [],
    peer: "node -e 0",
    peerSamples: starts["node"] ?? [],
    goal: START_GOAL,
  });
  const { workspace_id } = await cloche.createWorkspace({ environment: "host" });
  const host = new Host(env);
  await host.open();
  const listBytes = Buffer.byteLength(JSON.stringify(await host.ask("tools/list")));
  const samples = [];
  for (let index = 0; index < WARM_UP_EXECS + rounds * EXECS_PER_ROUND; index++) {
    const began = performance.now();
    const args = { workspace_id, command: ["true"] };
    const { structuredContent } = await host.ask("tools/call", { name: "workspace_exec", arguments: args });
    if (structuredContent.exit_code !== 0) throw new Error(`"true" ended with ${structuredContent.exit_code}`);
    if (index >= WARM_UP_EXECS) samples.push(performance.now() - began);
  }
  await host.close();
  await cloche.deleteWorkspace(workspace_id);
  yield {
    ...alone("workspace_exec true over stdio", "ms", median(samples), EXEC_GOAL_MS),
    ours_p99: p99(samples),
    details: { ours_samples: samples },
  };
  yield alone("tools/list of workspace-core", "kB", listBytes / 1000, LIST_GOAL_KB);
}

/** A row without a peer. @param {string} what @param {import("../table.mjs").Unit} unit @param {number} value @param {number} most @returns {import("../table.mjs").Row} */
function alone(what, unit, value, most) {
  return {
    what,
    unit,
    ours_p50: value,
    ours_p99: null,
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: `≤ ${most} ${unit}`,
    holds: value <= most,
    details: {},
  };
}
