import type { Readable } from "node:stream";

/** Takes a stream apart as somebody asks for it. What is there already is given at once: a long body costs no promise and no timer for each of its chunks. */
export class ChunkReader {
  readonly #source: Readable;
  #end: "ended" | Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: Readable) {
    this.#source = source;
    const end = (how: "ended" | Error) => () => {
      this.#end ??= how;
      this.#wake?.();
    };
    source.on("readable", () => this.#wake?.());
    source.once("end", end("ended"));
    source.once("error", (error) => end(error)());
    source.once("close", end(new Error("the request ended before its body")));
  }

  /** The next bytes, or that nothing came for so long, or that there is no more. Rejects when it broke off. */
  async next(patienceMs: number | undefined): Promise<Buffer | "stalled" | "ended"> {
    for (;;) {
      const chunk = this.#source.read() as Buffer | null;
      if (chunk !== null) return chunk;
      if (this.#end === "ended") return "ended";
      if (this.#end) throw this.#end;
      if (!(await this.#more(patienceMs))) return "stalled";
    }
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
