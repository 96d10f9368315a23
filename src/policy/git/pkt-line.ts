/** The longest line that git takes, with its four digits. */
export const MAX_PKT = 65_520;
export const FLUSH = Buffer.from("0000");

/** One line of git's protocol: its length in four digits, and then itself. */
export function pktLine(payload: Uint8Array | string): Buffer {
  const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
  if (bytes.length > MAX_PKT - 4) throw new RangeError("a line of git's protocol is too long");
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

/** Text for people on the second band, or a part of the answer on the first; as many lines as it takes. */
export function sideBand(band: 1 | 2, payload: Uint8Array | string): Buffer {
  const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
  const most = MAX_PKT - 5;
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += most)
    lines.push(pktLine(Buffer.concat([Buffer.of(band), bytes.subarray(at, at + most)])));
  return Buffer.concat(lines);
}

export class BrokenPkt extends Error {}

/** Takes lines from bytes as they come, up to a flush, and says where that ended. */
export class PktReader {
  #held: Buffer = Buffer.alloc(0);
  #bytes = 0;
  readonly #most: number;

  /** `most` bytes of lines are taken; more are refused. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The lines that are whole now; `rest` is what follows a flush, where there was one. Throws `BrokenPkt`. */
  push(chunk: Buffer): { readonly lines: Buffer[]; readonly rest: Buffer | undefined } {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const lines: Buffer[] = [];
    let at = 0;
    for (;;) {
      const head = this.#held.toString("latin1", at, at + 4);
      if (head.length < 4) break;
      if (!/^[0-9a-f]{4}$/i.test(head)) throw new BrokenPkt("it is not in lines of git's protocol");
      const size = Number.parseInt(head, 16);
      if (size === 0) return { lines, rest: this.#held.subarray(at + 4) };
      if (size < 4 || size > MAX_PKT) throw new BrokenPkt("a line of it has no possible length");
      if (this.#held.length < at + size) break;
      lines.push(this.#held.subarray(at + 4, at + size));
      at += size;
      this.#bytes += size;
      if (this.#bytes > this.#most) throw new BrokenPkt("it has too many lines");
    }
    this.#held = this.#held.subarray(at);
    return { lines, rest: undefined };
  }
}
