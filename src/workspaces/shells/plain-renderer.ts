import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { PlainRequest, PlainText } from "./render-plain.ts";

/** Ordinary output of a full ring takes a tenth of it. */
const DEADLINE_MS = 5000;
const IDLE_MS = 60_000;

/**
 * Shows terminal output as a person sees it, one request at a time. The emulator runs in a thread that can be ended: what it reads was
 * written by whoever is in the sandbox. Node cannot start a thread from TypeScript, so from the sources it runs here.
 */
export class PlainRenderer {
  readonly #deadlineMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(deadlineMs = DEADLINE_MS) {
    this.#deadlineMs = deadlineMs;
  }

  /** Never rejects: what cannot be shown as on a screen comes without its control sequences. */
  render({ before, shown, cols, rows }: PlainRequest): Promise<PlainText> {
    const result = this.#last.then(() => this.#show({ before, shown, cols, rows })).catch(() => stripped(shown));
    this.#last = result;
    return result;
  }

  #show(request: PlainRequest): Promise<PlainText> {
    return import.meta.url.endsWith(".ts") ? renderHere(request) : this.#renderInThread(request);
  }

  async #renderInThread(request: PlainRequest): Promise<PlainText> {
    clearTimeout(this.#idle);
    const thread = (this.#thread ??= new Worker(new URL("./render-thread.js", import.meta.url)));
    // SECURITY: no output of a sandbox occupies the host for longer than this (G-10).
    const deadline = setTimeout(() => this.#end(thread), this.#deadlineMs);
    thread.ref();
    try {
      const text = await answerOf(thread, request);
      this.#idle = setTimeout(() => this.#end(thread), IDLE_MS).unref();
      return text;
    } catch (error) {
      this.#end(thread);
      throw error;
    } finally {
      clearTimeout(deadline);
      // An idle thread must not keep the process from ending.
      thread.unref();
    }
  }

  #end(thread: Worker): void {
    if (this.#thread === thread) this.#thread = undefined;
    void thread.terminate();
  }
}

/** Rejects when the thread ends without an answer. */
async function answerOf(thread: Worker, request: PlainRequest): Promise<PlainText> {
  const over = new AbortController();
  try {
    // `once` also rejects for an error of the thread.
    const answer = once(thread, "message", { signal: over.signal }) as Promise<[PlainText]>;
    const exit = once(thread, "exit", { signal: over.signal });
    thread.postMessage(request);
    const text = await Promise.race([answer.then(([value]) => value), exit.then(() => undefined)]);
    if (text === undefined) throw new Error("the rendering thread has ended");
    return text;
  } finally {
    over.abort();
  }
}

const renderHere = async (request: PlainRequest): Promise<PlainText> =>
  await (await import("./render-plain.ts")).renderPlain(request);

// Linear in the length of any text.
const CONTROL =
  // eslint-disable-next-line no-control-regex -- control sequences are what this is about
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

const stripped = (shown: Uint8Array): PlainText => ({
  text: Buffer.from(shown).toString("utf8").replaceAll(CONTROL, ""),
  lost: false,
});
