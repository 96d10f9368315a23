import { GramTable } from "../dlp/gram-table.ts";
import { NeedleTexts } from "../dlp/needle-texts.ts";
import { gramOf, rarestGram } from "../dlp/raw-needles.ts";
import { ScanKernel } from "../dlp/scan-kernel.ts";
import { echoForms } from "./echo-forms.ts";

const MASK = 0x2a; // *
/** A shorter form would be found everywhere. */
const MIN_FORM_BYTES = 6;

export interface MaskingStream {
  /** What of the stream can go on: an end that may be the beginning of a value is held back. */
  push(chunk: Buffer): Buffer;
  /** What is held back, when nothing has come for a while: a few bytes that may be anything. What may only be a value stays. */
  flush(): Buffer;
  /** The rest. */
  end(): Buffer;
}

/**
 * Overwrites credentials in what comes back from where they were sent, in the forms that servers give them. What is overwritten stays as long as it was, so that
 * lengths and frames stay right. All forms are looked for at once: an answer is gone through once.
 */
export class EchoMask {
  readonly #needles: readonly Buffer[];
  readonly #longest: number;
  /** By a byte: whether a form begins with it. */
  readonly #begins = new Uint8Array(256);
  readonly #texts = new NeedleTexts();
  readonly #table = new GramTable();
  readonly #kernel: ScanKernel | undefined;

  constructor(values: readonly string[]) {
    const forms = new Set(values.flatMap((value) => [...echoForms(value)]));
    this.#needles = [...forms]
      .map((form) => Buffer.from(form, "latin1"))
      .filter(({ length }) => length >= MIN_FORM_BYTES);
    this.#longest = this.#needles.reduce((most, { length }) => Math.max(most, length), 0);
    for (const needle of this.#needles) {
      this.#begins[needle[0] ?? 0] = 1;
      const at = rarestGram(needle);
      this.#table.add(gramOf(needle, at), this.#texts.add(needle), at);
    }
    if (!this.isEmpty) this.#kernel = new ScanKernel([this.#table], []);
  }

  get isEmpty(): boolean {
    return this.#needles.length === 0;
  }

  text(text: string): string {
    if (text.length < MIN_FORM_BYTES) return text;
    const bytes = Buffer.from(text, "latin1");
    const masked = this.#masked(bytes);
    return masked === bytes ? text : masked.toString("latin1");
  }

  /** Each of them alone. */
  texts(texts: readonly string[]): string[] {
    // Nearly always there is nothing in all of them together.
    const all = Buffer.from(texts.join("\n"), "latin1");
    return this.#masked(all) === all ? [...texts] : texts.map((text) => this.text(text));
  }

  /** `isPart`: of an answer that may begin anywhere. */
  stream({ isPart = false } = {}): MaskingStream {
    const whole = new Masking(
      (bytes) => this.#masked(bytes),
      (bytes) => this.#open(bytes),
    );
    return isPart ? new PartMasking(whole, this.#longest, (bytes) => this.#begun(bytes)) : whole;
  }

  /** The same bytes where there is nothing to overwrite. */
  #masked(bytes: Buffer): Buffer {
    // All are found before any is overwritten: they overlap.
    const found: [number, number][] = [];
    this.#kernel?.scan(bytes, 0, bytes.length, undefined, {
      raw: (gram, start) => {
        for (let entry = this.#table.first(gram); entry >= 0; entry = this.#table.next(entry)) {
          const needle = this.#table.needleOf(entry);
          const at = start - this.#table.placeOf(entry);
          if (this.#texts.isAt(needle, bytes, at)) found.push([at, at + this.#texts.get(needle).length]);
        }
      },
    });
    if (found.length === 0) return bytes;
    const copy = Buffer.from(bytes);
    for (const [start, end] of found) copy.fill(MASK, start, end);
    return copy;
  }

  /** How many bytes at the start are the end of a value that begins before, or something of its middle. */
  #begun(bytes: Buffer): number {
    let longest = 0;
    for (const needle of this.#needles)
      for (let at = 1; needle.length - at >= Math.max(MIN_FORM_BYTES, longest + 1); at++) {
        if (needle[at] !== bytes[0]) continue;
        const length = Math.min(needle.length - at, bytes.length);
        if (length >= MIN_FORM_BYTES && length > longest && bytes.compare(needle, at, at + length, 0, length) === 0)
          longest = length;
      }
    return longest;
  }

  /** How many bytes at the end may be the beginning of a value that goes on. */
  #open(bytes: Buffer): number {
    for (let length = Math.min(this.#longest - 1, bytes.length); length > 0; length--) {
      const first = bytes[bytes.length - length] ?? 0;
      if (this.#begins[first] === 0) continue;
      for (const needle of this.#needles)
        if (needle[0] === first && needle.length > length && bytes.subarray(-length).equals(needle.subarray(0, length)))
          return length;
    }
    return 0;
  }
}

const EMPTY: Buffer = Buffer.alloc(0);

class Masking implements MaskingStream {
  readonly #masked: (bytes: Buffer) => Buffer;
  readonly #open: (bytes: Buffer) => number;
  /** Already shown, and still perhaps the beginning of a value: the rest of it is not shown. */
  #shown: Buffer = EMPTY;
  #held: Buffer = EMPTY;

  constructor(masked: (bytes: Buffer) => Buffer, open: (bytes: Buffer) => number) {
    this.#masked = masked;
    this.#open = open;
  }

  push(chunk: Buffer): Buffer {
    const before = this.#shown.length;
    const bytes = before + this.#held.length === 0 ? chunk : Buffer.concat([this.#shown, this.#held, chunk]);
    const masked = this.#masked(bytes);
    const safe = masked.length - this.#open(masked);
    this.#shown = safe < before ? Buffer.from(masked.subarray(safe, before)) : EMPTY;
    this.#held = safe === masked.length ? EMPTY : Buffer.from(masked.subarray(Math.max(safe, before)));
    return safe <= before ? EMPTY : masked.subarray(before, safe);
  }

  flush(): Buffer {
    if (this.#shown.length + this.#held.length >= MIN_FORM_BYTES) return EMPTY;
    const rest = this.#held;
    this.#shown = Buffer.concat([this.#shown, rest]);
    this.#held = EMPTY;
    return rest;
  }

  end(): Buffer {
    const isTold = this.#shown.length + this.#held.length >= MIN_FORM_BYTES;
    return isTold ? Buffer.alloc(this.#held.length, MASK) : this.#held;
  }
}

/** Begins with what could be the rest of a value, which is waited for whole. */
class PartMasking implements MaskingStream {
  readonly #rest: MaskingStream;
  readonly #longest: number;
  readonly #begun: (bytes: Buffer) => number;
  #start: Buffer | undefined = EMPTY;

  constructor(rest: MaskingStream, longest: number, begun: (bytes: Buffer) => number) {
    this.#rest = rest;
    this.#longest = longest;
    this.#begun = begun;
  }

  push(chunk: Buffer): Buffer {
    if (!this.#start) return this.#rest.push(chunk);
    this.#start = Buffer.concat([this.#start, chunk]);
    return this.#start.length < this.#longest ? EMPTY : this.#begin(this.#start);
  }

  flush(): Buffer {
    return this.#start ? EMPTY : this.#rest.flush();
  }

  end(): Buffer {
    const start = this.#start ? this.#begin(this.#start) : EMPTY;
    return Buffer.concat([start, this.#rest.end()]);
  }

  #begin(start: Buffer): Buffer {
    this.#start = undefined;
    const inside = this.#begun(start);
    return Buffer.concat([Buffer.alloc(inside, MASK), this.#rest.push(start.subarray(inside))]);
  }
}
