import { type Readable, type Transform, pipeline } from "node:stream";
import type { BodyScan } from "../../policy/dlp/detector.ts";
import { type Finding, isViolation } from "../../policy/dlp/finding.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { spent } from "./collector.ts";
import type { UpstreamCall } from "./upstream-call.ts";

/** A body of at most this is read whole before anything of it goes out. */
const SMALL = 256 * 1024;
/** One who sends a part and waits for an answer gets one: what is held back then goes on. */
const STALL_MS = 25;
const EMPTY = Buffer.alloc(0);

/** Found in a body on its way out, where nothing may be overwritten. */
export class LeakFound extends Error {}
/** The body ended before it was whole, or cannot be unpacked. */
export class BrokenBody extends Error {}

export interface OutgoingBodyOptions {
  /** Null when nobody looks. */
  readonly scan: BodyScan | null;
  /** Whether what is found is overwritten, and the rest goes on. */
  readonly redacts: boolean;
  /** Whether a small body is read whole, whatever is found in it: `findings` then say whether it may go. */
  readonly holds: boolean;
  /** What undoes its codings, so that it can be looked at. */
  readonly decoders: readonly Transform[];
  /** Undefined when only its end tells. */
  readonly length: number | undefined;
}

/** A body on its way from the sandbox to an upstream, looked at as it comes, with bounded memory. */
export class OutgoingBody {
  readonly #source: Readable;
  readonly #options: OutgoingBodyOptions;
  #bytes = 0;
  #chunks: ChunkReader | undefined;
  #isHeld: boolean;

  constructor(source: Readable, options: OutgoingBodyOptions) {
    this.#source = source;
    this.#options = options;
    this.#isHeld = options.holds;
  }

  /** As many as have come from the sandbox, unpacked. */
  get bytes(): number {
    return this.#bytes;
  }

  /** All of a small body, or what came before it was large or came to a stop. */
  async first(): Promise<{ bytes: Buffer; isWhole: boolean }> {
    const { length, decoders } = this.#options;
    if (length !== undefined && length > SMALL) return { bytes: EMPTY, isWhole: false };
    if (length !== undefined && decoders.length === 0)
      return { bytes: this.#whole(await this.#all(length)), isWhole: true };
    const parts: Uint8Array[] = [];
    for (let size = 0; size <= SMALL;) {
      const next = await this.#next(length === undefined);
      if (next === "stalled") return { bytes: Buffer.concat([...parts, ...this.#flush()]), isWhole: false };
      if (next === "ended") return { bytes: Buffer.concat([...parts, ...this.last()]), isWhole: true };
      for (const part of this.#look(next)) {
        parts.push(part);
        size += part.length;
      }
    }
    return { bytes: Buffer.concat(parts), isWhole: false };
  }

  /** After `first`: what was found in a body that is whole. One that goes on, and has something in it, is not sent on. */
  found(isWhole: boolean): readonly Finding[] {
    this.#isHeld = false;
    const violations = this.#options.redacts ? [] : (this.#options.scan?.findings.filter(isViolation) ?? []);
    if (violations.length > 0 && !isWhole) throw new LeakFound();
    return violations;
  }

  /** The rest of it, as the upstream takes it. */
  async rest(call: UpstreamCall): Promise<void> {
    for (let mayHold = true; ;) {
      const next = await this.#next(mayHold);
      mayHold = next !== "stalled";
      if (next === "stalled") {
        if (!call.write(...this.#flush())) await call.drained();
        continue;
      }
      if (next === "ended") {
        call.write(...this.last());
        return;
      }
      const parts = this.#look(next);
      const isTaken = call.write(...parts);
      for (const { length } of parts) spent(length);
      if (!isTaken) await call.drained();
    }
  }

  /** What was held back until the end. */
  last(): readonly Uint8Array[] {
    const { scan } = this.#options;
    return scan ? this.#judged(scan.end()) : [];
  }

  /** By its events: for a small body that is all there is to do. */
  #all(length: number): Promise<Buffer> {
    return new Promise((done, fail) => {
      const parts: Buffer[] = [];
      this.#source.on("data", (part: Buffer) => {
        this.#bytes += part.length;
        parts.push(part);
      });
      this.#source.on("end", () => done(parts.length === 1 ? (parts[0] ?? EMPTY) : Buffer.concat(parts, this.#bytes)));
      this.#source.on("error", () => fail(new BrokenBody("the request ended before its body")));
      this.#source.on("close", () => {
        if (this.#bytes < length) fail(new BrokenBody("the request ended before its body"));
      });
    });
  }

  async #next(mayStall: boolean): Promise<readonly Buffer[] | "stalled" | "ended"> {
    const chunks = (this.#chunks ??= new ChunkReader(this.#unpacked()));
    try {
      const next = await chunks.next(mayStall ? STALL_MS : undefined);
      if (typeof next !== "string") for (const { length } of next) this.#bytes += length;
      return next;
    } catch (error) {
      throw new BrokenBody((error as Error).message);
    }
  }

  #unpacked(): Readable {
    const { decoders } = this.#options;
    const last = decoders.at(-1);
    if (last) pipeline([this.#source, ...decoders] as never, () => undefined); // its error is that of the last stream
    return last ?? this.#source;
  }

  #look(chunks: readonly Buffer[]): readonly Uint8Array[] {
    const { scan } = this.#options;
    return scan ? this.#judged(scan.push(...chunks)) : chunks;
  }

  #flush(): readonly Uint8Array[] {
    const { scan } = this.#options;
    return scan ? this.#judged(scan.flush()) : [];
  }

  #whole(bytes: Buffer): Buffer {
    const { scan, redacts } = this.#options;
    if (!scan) return bytes;
    const parts = [...this.#judged(scan.push(bytes)), ...this.last()];
    return redacts ? Buffer.concat(parts) : bytes;
  }

  /** SECURITY: nothing that comes after a finding leaves, nor what was held back with it (G-41) */
  #judged(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    if (this.#isHeld) return parts;
    if (!this.#options.redacts && this.#options.scan?.findings.some(isViolation) === true) throw new LeakFound();
    return parts;
  }
}
