import type { CompactNeedles, KnownNeedle, NumbersNeedle, PhraseNeedle, SeparatedNeedle } from "./compact-needles.ts";
import { CLASS_OF, byteOfClass, nextCounting } from "./compact-text.ts";
import { decodeAround, isEncoded, leadOf } from "./decode.ts";
import { GRAM_LENGTH } from "./gram-table.ts";
import { Layer, type Piece } from "./layer.ts";
import type { Match } from "./match.ts";
import { numberList } from "./number-lists.ts";
import type { EncodedNeedle, ExactNeedle, RawNeedles } from "./raw-needles.ts";
import { RuleHits, type RuleSet } from "./rule-set.ts";
import { type KernelVisitor, ScanKernel } from "./scan-kernel.ts";
import { regularText, separatedTexts } from "./separated-text.ts";
import { startsEscape, unescapeLayer } from "./unescape.ts";

/** How far from the place where it was noticed a match reaches at most, on either side. */
export const REACH = 2048;
/** How much around an escape is read without escapes. */
const ESCAPE_MARGIN = 512;
/** The first separator of a separated token is at most this far from its start. */
const SEPARATED_WITHIN = 24;
const DIGIT_WITHIN = 20;
/** How many separated keywords of one window are looked at: text has none, and one who writes thousands only wants to cost time. */
const MAX_SEPARATED = 256;
const MAX_REGULAR = 64;
/** Bytes for each character of a value whose characters have something between them. */
const WIDEST_GAP = 8;
/** Encodings inside of encodings. */
const MAX_DEPTH = 4;

/** Of each kind those of the rules, and those of a policy. */
export interface Needles {
  readonly raw: readonly RawNeedles[];
  readonly compact: readonly CompactNeedles[];
  readonly rules: RuleSet;
}

/**
 * Looks through bytes twice: as they stand, for keywords of rules in every encoding, and as compact text, for known values in every encoding. What it notices on the way
 * (a keyword, an escape) is looked at closely afterwards, and only around the place where it is.
 */
export class ByteScanner {
  readonly #needles: Needles;
  readonly #kernel: ScanKernel;

  constructor(needles: Needles) {
    this.#needles = needles;
    this.#kernel = new ScanKernel(
      needles.raw.map(({ table }) => table),
      needles.compact.map(({ table }) => table),
    );
  }

  /** Everything that is noticed from `from` to `to`. The bytes around them, up to `REACH`, should be there too. */
  scan(bytes: Uint8Array, from: number, to: number, report: (match: Match) => void): void {
    // Never a Buffer: the loops are twice as fast when they see one kind of array only.
    const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#scanLayer(new Layer(plain, []), from, to, report);
  }

  #scanLayer(layer: Layer, from: number, to: number, report: (match: Match) => void): void {
    const work = new LayerWork(this.#needles, layer, report);
    const isCompact = layer.view.length === 0 || layer.view.at(-1) === "escaped";
    this.#kernel.scan(layer.bytes, from, to, isCompact ? compactBefore(layer.bytes, from) : undefined, work);
    work.hits.run(layer, report);
    if (layer.depth >= MAX_DEPTH) return;
    for (const decoded of work.decoded) this.#scanLayer(decoded, 0, decoded.bytes.length, report);
    // Nothing is an escape that came out of one, but for those that were undone with it.
    if (layer.view.at(-1) === "escaped") return;
    for (const { start, end } of work.escapes) {
      const plain = unescapeLayer(layer, Math.max(0, start), Math.min(layer.bytes.length, end));
      this.#scanLayer(plain, 0, plain.bytes.length, report);
    }
  }
}

const NOTHING_BEFORE = new Uint8Array(GRAM_LENGTH - 1);

/** The last characters of compact text before a place. */
function compactBefore(bytes: Uint8Array, from: number): Uint8Array {
  if (from === 0) return NOTHING_BEFORE;
  const last = new Uint8Array(GRAM_LENGTH - 1);
  for (let at = from, index = last.length - 1; index >= 0; index--) {
    at = nextCounting(bytes, at - 1, -1);
    if (at < 0) break;
    last[index] = byteOfClass(CLASS_OF[bytes[at] ?? 0] ?? 0);
  }
  return last;
}

/** What was noticed in one layer. */
class LayerWork implements KernelVisitor {
  readonly hits: RuleHits;
  readonly decoded: Layer[] = [];
  readonly escapes: Piece[] = [];
  readonly #needles: Needles;
  readonly #layer: Layer;
  readonly #report: (match: Match) => void;
  /** Where groups begin that were decoded already. */
  #groups: Map<string, Set<number>> | undefined;
  #separatedReads = 0;
  #regularReads = 0;
  #numberReads = 0;
  /** Up to where numbers were read. */
  #numbersEnd = 0;
  /** The last text with the same between all characters: up to where the next one need not begin. */
  #regular: { readonly start: number; readonly end: number; readonly step: number } | undefined;

  constructor(needles: Needles, layer: Layer, report: (match: Match) => void) {
    this.#needles = needles;
    this.#layer = layer;
    this.#report = report;
    this.hits = new RuleHits(needles.rules);
  }

  /** A gram of the raw table may begin at `start`. */
  raw(gram: number, start: number): void {
    for (const needles of this.#needles.raw) this.#rawOf(needles, gram, start);
  }

  #rawOf(needles: RawNeedles, gram: number, start: number): void {
    const { table, texts } = needles;
    for (let entry = table.first(gram); entry >= 0; entry = table.next(entry)) {
      const number = table.needleOf(entry);
      const at = start - table.placeOf(entry);
      if (!texts.isAt(number, this.#layer.bytes, at)) continue;
      const needle = needles.get(number);
      if (needle.kind === "keyword") this.hits.add(needle.rules, at, needle.length);
      else if (needle.kind === "encoded") this.#decode(needle, at);
      else this.#exact(needle, at);
    }
  }

  escape(at: number): void {
    if (!startsEscape(this.#layer.bytes, at)) return;
    const start = at - ESCAPE_MARGIN;
    const end = at + ESCAPE_MARGIN;
    const last = this.escapes.at(-1);
    if (last && start <= last.end) this.escapes[this.escapes.length - 1] = { start: last.start, end };
    else this.escapes.push({ start, end });
  }

  /** A gram of the compact table ends at `end`. */
  compact(gram: number, end: number): void {
    for (const needles of this.#needles.compact) this.#compactOf(needles, gram, end);
  }

  #compactOf({ table, needles }: CompactNeedles, gram: number, end: number): void {
    for (let entry = table.first(gram); entry >= 0; entry = table.next(entry)) {
      const needle = needles[table.needleOf(entry)];
      const at = table.placeOf(entry);
      if (needle === undefined) continue;
      if (needle.kind === "known") this.#known(needle, at, end);
      else if (needle.kind === "separated") this.#separated(needle, at, end);
      else if (needle.kind === "numbers") this.#numbers(needle, at, end);
      else this.#phrase(needle, at, end);
    }
  }

  #exact(needle: ExactNeedle, at: number): void {
    const end = at + needle.length;
    const { bytes } = this.#layer;
    if (needle.isWord && (isWord(bytes[at - 1]) || isWord(bytes[end]))) return;
    this.#add(needle.known, needle.view, [{ start: at, end }]);
  }

  #decode(needle: EncodedNeedle, at: number): void {
    const { encoding, before } = needle;
    if (encoding === "reversed" && this.#layer.view.includes("reversed")) return;
    if (!isEncoded(this.#layer.bytes, at, needle)) return;
    const first = at - leadOf(encoding, before);
    const groups = (this.#groups ??= new Map<string, Set<number>>());
    const known = groups.get(encoding) ?? new Set<number>();
    groups.set(encoding, known);
    if (known.has(first)) return;
    const { layer, groups: begun, hasBlank } = decodeAround(this.#layer, encoding, at, before);
    for (const group of begun) known.add(group);
    known.add(first);
    this.decoded.push(layer);
    if (hasBlank) this.decoded.push(decodeAround(this.#layer, encoding, at, before, true).layer);
  }

  #known(needle: KnownNeedle, gramAt: number, end: number): void {
    const places = followCore(this.#layer.bytes, needle.core, gramAt, end);
    if (places.length < needle.least) return;
    if (needle.exact && !hasBetween(this.#layer.bytes, needle.exact, places)) return;
    const pieces = places.map((place) => ({ start: place, end: place + 1 }));
    const isSeparated = needle.view.length === 0 && !isOneRun(places);
    this.#add(needle.known, isSeparated ? ["separated"] : needle.view, pieces);
  }

  #phrase({ phrase, core }: PhraseNeedle, gramAt: number, end: number): void {
    const places = followCore(this.#layer.bytes, core, gramAt, end);
    const first = places[0];
    if (first === undefined || places.length < core.length) return;
    this.#add(phrase, [], [{ start: first, end: (places.at(-1) ?? first) + 1 }]);
  }

  #separated(needle: SeparatedNeedle, gramAt: number, end: number): void {
    const { bytes } = this.#layer;
    // Most are words as they stand.
    if (needle.isStrict && nextCounting(bytes, end - 1, -1) === end - 1) return;
    const places = followCore(bytes, needle.core, gramAt, end);
    const start = places[0];
    if (start === undefined || places.length < needle.core.length) return;
    this.#readRegular(places);
    if (needle.isStrict) return;
    // Case does not count in compact text; in a keyword it does.
    if (!needle.letters.every((letter, index) => bytes[places[index] ?? 0] === letter)) return;
    if (!hasSeparator(bytes, start)) return;
    if (++this.#separatedReads > MAX_SEPARATED) return;
    for (const text of separatedTexts(this.#layer, start)) {
      if (!hasAt(text.bytes, needle.keyword, 0)) continue;
      // Words and tables have no digits; what a generator made has.
      if (!text.bytes.subarray(0, DIGIT_WITHIN).some((byte) => byte >= 0x30 && byte <= 0x39)) continue;
      const hits = new RuleHits(this.#needles.rules);
      hits.add(needle.rules, 0, needle.keyword.length);
      hits.run(text, (match) => {
        if (match.pieces[0]?.start === this.#layer.toOriginal([{ start, end: start + 1 }])[0]?.start) {
          this.#report(match);
        }
      });
    }
  }

  /** Without anything between them they are hex as it stands, which is looked for in the bytes. */
  #numbers({ core }: NumbersNeedle, gramAt: number, end: number): void {
    const places = followCore(this.#layer.bytes, core, gramAt, end);
    const [start] = places;
    if (start === undefined || places.length < core.length || isOneRun(places)) return;
    if (start < this.#numbersEnd || ++this.#numberReads > MAX_REGULAR) return;
    const list = numberList(this.#layer, start);
    this.#numbersEnd = list.end;
    this.decoded.push(list.layer);
  }

  /** What was read with an earlier word is not read again: a text that is full of such words costs no more than its length. */
  #readRegular(places: readonly number[]): void {
    const [start = 0, second = 0] = places;
    const step = second - start;
    const last = this.#regular;
    if (last && step === last.step && start < last.end && (start - last.start) % step === 0) return;
    const regular = this.#regularReads < MAX_REGULAR ? regularText(this.#layer, places) : undefined;
    if (regular === undefined) return;
    this.#regularReads++;
    this.#regular = { start, end: regular.end, step };
    this.decoded.push(regular.layer);
  }

  #add(of: Match["of"], view: readonly string[], pieces: readonly Piece[]): void {
    this.#report({ of, view: [...this.#layer.view, ...view], pieces: this.#layer.toOriginal(pieces) });
  }
}

function hasAt(bytes: Uint8Array, needle: Uint8Array, at: number): boolean {
  if (at < 0 || at + needle.length > bytes.length) return false;
  for (let index = 0; index < needle.length; index++) if (bytes[at + index] !== needle[index]) return false;
  return true;
}

const isWord = (byte: number | undefined): boolean =>
  byte !== undefined && (CLASS_OF[byte] !== 0 || byte === 0x5f || byte >= 0x80);

/** A token that stands as it is is for those who read it so. */
function hasSeparator(bytes: Uint8Array, start: number): boolean {
  const end = Math.min(bytes.length, start + SEPARATED_WITHIN);
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (CLASS_OF[byte] === 0 && byte !== 0x5f) return true;
  }
  return false;
}

/** Whether a value stands around these places of its letters and digits: they are the same, and its separators are between them, maybe among others. */
function hasBetween(bytes: Uint8Array, value: Uint8Array, places: readonly number[]): boolean {
  const around = value.length * WIDEST_GAP;
  const end = (places.at(-1) ?? 0) + around;
  let at = Math.max(0, (places[0] ?? 0) - around);
  let next = 0;
  for (const byte of value) {
    const isCounting = CLASS_OF[byte] !== 0;
    const limit = places[next] ?? end;
    if (isCounting) at = limit;
    else while (at < limit && bytes[at] !== byte) at++;
    if (bytes[at] !== byte || (!isCounting && at >= limit)) return false;
    if (isCounting) next++;
    at++;
  }
  return true;
}

const isOneRun = (places: readonly number[]): boolean => (places.at(-1) ?? 0) - (places[0] ?? 0) === places.length - 1;

/** Places of the characters of a needle in compact text, as many in a row as there are, when one of its grams ends at `end`. */
function followCore(bytes: Uint8Array, core: Uint8Array, gramAt: number, end: number): number[] {
  const back: number[] = [];
  for (let index = gramAt + GRAM_LENGTH - 1, at = end; index >= 0; index--) {
    if (at < 0 || end - at > REACH || CLASS_OF[bytes[at] ?? 0] !== (core[index] ?? CLASS_OF[bytes[at] ?? 0])) break;
    back.push(at);
    at = nextCounting(bytes, at - 1, -1);
  }
  // The gram alone is a chance; most end here.
  if (back.length < GRAM_LENGTH) return [];
  // A needle may be shorter than a gram, which then has one more character.
  const places = back.reverse().slice(0, core.length);
  for (let index = gramAt + GRAM_LENGTH, at = end; index < core.length; index++) {
    at = nextCounting(bytes, at + 1, 1);
    if (at < 0 || at - end > REACH || CLASS_OF[bytes[at] ?? 0] !== core[index]) break;
    places.push(at);
  }
  return places;
}
