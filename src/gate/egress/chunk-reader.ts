import type { Readable } from "node:stream";

/** With so much that nobody has asked for yet the source waits. */
const MOST_BYTES = 128 * 1024;

/** Takes a stream apart as somebody asks for it. What is there already is given at once, and as it came: a long body costs no copy, no promise and no timer for each of its chunks. */
export class ChunkReader {
  readonly #source: Readable;
  #parts: Buffer[] = [];
  #bytes = 0;
  #end: "ended" | Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: Readable) {
    this.#source = source;
    const end = (how: "ended" | Error) => () => {
      this.#end ??= how;
      this.#wake?.();
    };
    source.on("data", (part: Buffer) => {
      this.#parts.push(part);
      this.#bytes += part.length;
      if (this.#bytes >= MOST_BYTES) source.pause();
      this.#wake?.();
    });
    source.once("end", end("ended"));
    source.once("error", (error) => end(error)());
    source.once("close", end(new Error("the request ended before its body")));
  }

  /** The next chunks, or that nothing came for so long, or that there is no more. Rejects when it broke off. */
  async next(patienceMs: number | undefined): Promise<readonly Buffer[] | "stalled" | "ended"> {
    for (;;) {
      if (this.#parts.length > 0) return this.#take();
      if (this.#end === "ended") return "ended";
      if (this.#end) throw this.#end;
      if (!(await this.#more(patienceMs))) return "stalled";
    }
  }

  #take(): readonly Buffer[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    if (this.#source.isPaused()) this.#source.resume();
    return parts;
  }

  /** False when nothing came. */
  #more(patienceMs: number | undefined): Promise<boolean> {
    return new Promise((done) => {
      const timer = patienceMs === undefined ? undefined : setTimeout(() => settle(false), patienceMs);
      const settle = (isMore: boolean) => {
        clearTimeout(timer);
        this.#wake = undefined;
        done(isMore);
      };
      this.#wake = () => settle(true);
    });
  }
}
