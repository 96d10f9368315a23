import { REACH, type ByteScanner } from "./byte-scanner.ts";
import { scanSeams, type BodyEnds, type FoundAcross } from "./body-seams.ts";
import type { BodyOptions, BodyScan } from "./detector.ts";
import { isViolation, type Finding } from "./finding.ts";
import { joinedValues } from "./joined-values.ts";
import { Layer, type Piece } from "./layer.ts";
import { restOfKey } from "./key-rest.ts";
import { mask, maskRest } from "./mask.ts";
import { endOf, isEncodedMatch, type Match } from "./match.ts";
import { scanPacked } from "./packed-text.ts";
import { TAIL_BYTES, type MemoryOf } from "./scan-memory.ts";
import { isBetter, keyOf, type ScanPolicy } from "./scan-policy.ts";
import { WHOLE_BYTES, WINDOW_BYTES } from "./limits.ts";
import { beginsAtBorder } from "./value-borders.ts";

const NONE: readonly Uint8Array[] = [];
const NO_BYTES: Buffer = Buffer.alloc(0);
const NOTHING: readonly Finding[] = [];

/** What the upstream has when the body comes: of the requests before, and of this one's head. */
export interface SentBefore {
  readonly memory: MemoryOf | undefined;
  readonly carried: readonly Uint8Array[] | undefined;
}

/**
 * A body that comes in chunks. The buffer has three parts: `REACH` bytes of context that were scanned, the bytes that are scanned next, and `REACH` bytes that are only looked
 * ahead into. So every match is whole in the buffer when it is noticed, wherever chunks are cut. What leaves the buffer can be in no match that is still to come.
 */
export class BufferedBodyScan implements BodyScan {
  readonly #scanner: ByteScanner;
  readonly #policy: ScanPolicy;
  readonly #options: BodyOptions;
  readonly #memory: MemoryOf | undefined;
  /** What the head says that goes with it. */
  readonly #carried: readonly Uint8Array[];
  #buffer: Buffer = NO_BYTES;
  /** Offset in the body of the buffer's first byte. */
  #base = 0;
  /** In the buffer: what is before was scanned, … */
  #scanned = 0;
  /** … and what is before was given back. */
  #released = 0;
  /** In mode `find`: chunks that were not given back yet, from the byte that is next on. What is scanned is a copy of them that is made in one place again and again. */
  #held: Uint8Array[] = [];
  #window: Buffer = NO_BYTES;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #found: Map<string, Finding> | undefined;
  /** Its beginning is known, as far as it may go on with what was sent before. */
  #hasLookedBack = false;
  /** Of matches that lie in the buffer: bytes that go on after the match belong to it. */
  #isWhole = true;
  /** Of a key that goes on with the bytes that come next: where, as an offset in the body. */
  #rest: { readonly from: number; readonly isEncoded: boolean } | undefined;

  constructor(scanner: ByteScanner, policy: ScanPolicy, options: BodyOptions, { memory, carried }: SentBefore) {
    this.#scanner = scanner;
    this.#policy = policy;
    this.#options = options;
    this.#memory = memory;
    this.#carried = carried ?? NONE;
  }

  get findings(): readonly Finding[] {
    if (this.#found === undefined) return NOTHING;
    return [...this.#found.values()].sort((one, other) => one.offset - other.offset);
  }

  push(...chunks: readonly Uint8Array[]): readonly Uint8Array[] {
    for (const chunk of chunks) {
      this.#waiting.push(chunk);
      if (this.#options.mode === "find") this.#held.push(chunk);
      this.#waitingBytes += chunk.length;
    }
    const unscanned = this.#buffer.length - this.#scanned + this.#waitingBytes;
    // A body that may still be small is kept whole: it can be refused, or read as one, before anything of it is gone.
    const limit = this.#isWhole ? WHOLE_BYTES : WINDOW_BYTES;
    if (this.#options.hold === false) return this.flush();
    if (unscanned < limit) return NONE;
    this.#isWhole = false;
    this.#take();
    this.#lookBack();
    this.#scanTo(this.#buffer.length - REACH);
    return this.#release(this.#scanned - REACH);
  }

  flush(): readonly Uint8Array[] {
    this.#isWhole = false;
    this.#take();
    this.#lookBack();
    this.#scanTo(this.#buffer.length);
    const bytes = this.#release(this.#buffer.length);
    // What ends here may go on: the last bytes are scanned again with what follows.
    this.#scanned = Math.max(0, this.#buffer.length - REACH);
    return bytes;
  }

  end(): readonly Uint8Array[] {
    this.#take();
    this.#scanTo(this.#buffer.length);
    if (this.#isWhole) {
      this.#scanJoined();
      this.#scanPacked();
    } else {
      this.#lookBack();
      this.#scanSeams(new Layer(this.#buffer, []), { lastStart: 0 });
      this.#memory?.remember(this.#place, this.#base === 0 ? this.#buffer : this.#buffer.subarray(-TAIL_BYTES));
    }
    return this.#release(this.#buffer.length);
  }

  get #place(): string {
    return this.#options.place ?? "body";
  }

  /** SECURITY: a body that comes slowly, or is large, is put behind the requests before it as a small one is, before any of it is gone (G-174) */
  #lookBack(): void {
    if (this.#hasLookedBack) return;
    const start = this.#buffer.subarray(0, TAIL_BYTES);
    for (const finding of this.#memory?.look(this.#place, start) ?? []) this.#keep(keyOf(finding), finding);
    this.#scanSeams(new Layer(start, []), { firstEnd: start.length });
    this.#hasLookedBack = start.length >= TAIL_BYTES;
  }

  #take(): void {
    if (this.#waiting.length === 0) return;
    // Context that nobody needs any more goes with the copy.
    const drop = Math.max(0, Math.min(this.#released, this.#scanned - REACH));
    this.#buffer = this.#joined(this.#buffer.subarray(drop));
    this.#base += drop;
    this.#scanned -= drop;
    this.#released -= drop;
    this.#waiting = [];
    this.#waitingBytes = 0;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) this.#maskRest(rest.from - this.#base, rest.isEncoded);
  }

  /** What is kept, and what waits. */
  #joined(kept: Buffer): Buffer {
    if (this.#options.mode === "redact") return Buffer.concat([kept, ...this.#waiting]);
    const [only] = this.#waiting;
    if (kept.length === 0 && this.#waiting.length === 1 && only !== undefined)
      return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
    const size = kept.length + this.#waitingBytes;
    const window = size <= this.#window.length ? this.#window : Buffer.allocUnsafeSlow(size + WINDOW_BYTES);
    window.set(kept);
    let at = kept.length;
    for (const chunk of this.#waiting) {
      window.set(chunk, at);
      at += chunk.length;
    }
    this.#window = window;
    return window.subarray(0, size);
  }

  #scanTo(end: number): void {
    if (end <= this.#scanned) return;
    let matches: Match[] | undefined;
    this.#scanner.scan(this.#buffer, this.#scanned, end, (match) => {
      if (this.#policy.wants(match, this.#buffer)) (matches ??= []).push(match);
    });
    this.#scanned = end;
    for (const match of matches ?? []) this.#add(match);
  }

  #add(match: Match): void {
    const finding = this.#policy.toFinding(match, this.#place, this.#base);
    const key = keyOf(finding);
    if (isBetter(finding, this.#found?.get(key))) this.#keep(key, finding);
    if (this.#options.mode !== "redact" || !isViolation(finding)) return;
    this.#mask(match.pieces);
    if (this.#policy.runsOn(match)) this.#maskRest(endOf(match), isEncodedMatch(match));
  }

  /** Overwrites in the buffer itself, which is a copy in this mode, so that what is scanned later sees the mask. */
  #mask(pieces: readonly Piece[]): void {
    mask(this.#buffer, pieces);
  }

  /** SECURITY: a key that is longer than its pattern, and than what is in the buffer, does not leave without its head (G-73) */
  #maskRest(from: number, isEncoded: boolean): void {
    const { end, isOpen } = restOfKey(this.#buffer, from, isEncoded);
    maskRest(this.#buffer, from, end);
    // The same key may be seen twice: the second time all of it is overwritten already, and it goes on all the same.
    if (isOpen) this.#rest = { from: this.#base + end, isEncoded };
  }

  /** A small body once more, as the values in it one after the other, and after those of the requests before. */
  #scanJoined(): void {
    const whole = new Layer(this.#buffer, []);
    const joined = joinedValues(whole);
    this.#scanSeams(joined?.layer ?? whole, joined ?? { firstEnd: whole.bytes.length, lastStart: 0 });
    if (joined !== undefined) {
      const { layer } = joined;
      this.#scanner.scan(layer.bytes, 0, layer.bytes.length, (match) => {
        const pieces = layer.toOriginal(match.pieces);
        const inOriginal = { ...match, view: [...layer.view, ...match.view], pieces };
        if (pieces.length > 1 && this.#policy.wants(inOriginal, this.#buffer)) this.#add(inOriginal);
      });
      for (const finding of this.#memory?.bytes(`${this.#place}:joined`, layer.bytes) ?? []) {
        this.#keep(keyOf(finding), finding);
      }
    }
    for (const finding of this.#memory?.bytes(this.#place, this.#buffer) ?? []) {
      this.#keep(keyOf(finding), finding);
    }
  }

  /** SECURITY: a value of which one part is in the head and the other one in the body does not leave, whichever comes first (G-190) */
  #scanSeams(layer: Layer, ends: BodyEnds): void {
    if (this.#carried.length === 0) return;
    scanSeams(this.#scanner, this.#carried, layer.bytes, ends, (across) => this.#addAcross(across, layer));
  }

  /** Of the two parts that in the body can be overwritten, as far as it is still here. */
  #addAcross({ match, text, pieces: inLayer }: FoundAcross, layer: Layer): void {
    const rule = this.#policy.ruleOf(match);
    if (!this.#policy.joined.wants(match, text) || !beginsAtBorder({ match, rule }, text)) return;
    const pieces = layer.toOriginal(inLayer);
    const offset = this.#base + (pieces[0]?.start ?? 0);
    const finding: Finding = { ...this.#policy.toFinding(match, this.#place, 0), offset, view: "joined" };
    this.#keep(keyOf(finding), finding);
    if (this.#options.mode === "redact" && isViolation(finding))
      this.#mask(pieces.filter(({ start }) => start >= this.#released));
  }

  /** And as what was packed into it. */
  #scanPacked(): void {
    scanPacked(this.#scanner, this.#buffer, (match) => {
      if (this.#policy.wants(match, this.#buffer)) this.#add(match);
    });
  }

  #keep(key: string, finding: Finding): void {
    (this.#found ??= new Map<string, Finding>()).set(key, finding);
  }

  #release(to: number): readonly Uint8Array[] {
    const from = this.#released;
    if (to <= from) return NONE;
    this.#released = to;
    // A view: the buffer is never written where it was released.
    return this.#options.mode === "redact" ? [this.#buffer.subarray(from, to)] : this.#given(to - from);
  }

  /** The next bytes, in the chunks in which they came. */
  #given(size: number): readonly Uint8Array[] {
    let count = 0;
    let left = size;
    for (; left >= (this.#held[count]?.length ?? Infinity); count++) left -= this.#held[count]?.length ?? 0;
    const whole = this.#held.splice(0, count);
    const [cut] = this.#held;
    if (left === 0 || cut === undefined) return whole;
    this.#held[0] = cut.subarray(left);
    return [...whole, cut.subarray(0, left)];
  }
}
