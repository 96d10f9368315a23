import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { median, p99 } from "../statistics.mjs";

const GOAL_MS = 5;
const WARM_UP = 100;
const KEYS_PER_ROUND = 25;
/** Nobody types in a tight loop, in which everybody on the way is still awake. */
const PAUSE_MS = 10;

/** @param {import("../bench.mjs").Bench} bench @returns {Promise<import("../table.mjs").Row[]>} */
export async function measureShell({ installation: { cloche }, rounds }) {
  const { workspace_id } = await cloche.createWorkspace({ environment: "host" });
  try {
    const { shell_id } = await cloche.openShell(workspace_id);
    const stream = cloche.attachShell(workspace_id, shell_id, { cols: 80, rows: 24 });
    const screen = new Screen(stream.output());
    // Nothing but the terminal itself answers: what is typed comes back, and no shell that draws its line takes part.
    await stream.write("exec cat >/dev/null\n");
    await cloche.readShell(workspace_id, shell_id, { wait_for_idle_ms: 300 });
    const terminal = await typeKeys(stream, screen, WARM_UP + rounds * KEYS_PER_ROUND);
    await stream.detach();
    await cloche.closeShell(workspace_id, shell_id);

    const shell = await cloche.openShell(workspace_id);
    const atPrompt = cloche.attachShell(workspace_id, shell.shell_id, { cols: 80, rows: 24 });
    const promptScreen = new Screen(atPrompt.output());
    await cloche.readShell(workspace_id, shell.shell_id, { wait_for_idle_ms: 300 });
    const prompt = await runLines(atPrompt, promptScreen, WARM_UP + rounds * KEYS_PER_ROUND);
    await atPrompt.detach();
    await cloche.closeShell(workspace_id, shell.shell_id);
    return [
      {
        what: "shell echo round trip",
        unit: "ms",
        ours_p50: median(prompt),
        ours_p99: p99(prompt),
        peer: "-",
        peer_p50: null,
        ratio: null,
        goal: `≤ ${GOAL_MS} ms`,
        holds: median(prompt) <= GOAL_MS,
        note: `a line typed into an attached shell, to what its echo command prints; a few keys come back after ${median(terminal).toFixed(2)} ms (p99 ${p99(terminal).toFixed(2)} ms)`,
        details: { prompt, terminal },
      },
    ];
  } finally {
    await cloche.deleteWorkspace(workspace_id);
  }
}

/** What the terminal shows as it comes, and somebody who waits for a text in it. */
class Screen {
  #text = "";
  /** @type {{ text: string, found: () => void } | undefined} */
  #waiting;

  /** @param {AsyncIterable<Buffer>} output */
  constructor(output) {
    void this.#read(output);
  }

  /** @param {AsyncIterable<Buffer>} output */
  async #read(output) {
    for await (const chunk of output) {
      this.#text += chunk.toString("latin1");
      this.#look();
    }
  }

  #look() {
    if (this.#waiting === undefined || !this.#text.includes(this.#waiting.text)) return;
    const { found } = this.#waiting;
    this.#waiting = undefined;
    found();
  }

  forget() {
    this.#text = "";
  }

  /** @param {string} text @returns {Promise<void>} */
  see(text) {
    return new Promise((found) => {
      this.#waiting = { text, found };
      this.#look();
    });
  }
}

/** @param {import("../../src/sdk/options.ts").ShellStream} stream @param {Screen} screen @param {number} count */
async function typeKeys(stream, screen, count) {
  const samples = [];
  for (let i = 0; i < count; i++) {
    screen.forget();
    const start = performance.now();
    const seen = screen.see(`${i}.`);
    await Promise.all([stream.write(i % 64 === 63 ? `${i}.\n` : `${i}.`), seen]);
    samples.push(performance.now() - start);
    await setTimeout(PAUSE_MS);
  }
  return samples.slice(WARM_UP);
}

/** @param {import("../../src/sdk/options.ts").ShellStream} stream @param {Screen} screen @param {number} count */
async function runLines(stream, screen, count) {
  const samples = [];
  for (let i = 0; i < count; i++) {
    screen.forget();
    const start = performance.now();
    // The quotes are on the line that is typed only, so that its echo is not taken for the answer.
    const seen = screen.see(`answer-${i}.`);
    await Promise.all([stream.write(`echo ans''wer-${i}.\n`), seen]);
    samples.push(performance.now() - start);
    await setTimeout(PAUSE_MS);
  }
  return samples.slice(WARM_UP);
}
