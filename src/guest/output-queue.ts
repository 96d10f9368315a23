import type { OutputChannel } from "./frame-types.ts";
import { protocolError } from "./protocol-error.ts";

export interface OutputChunk {
  readonly channel: OutputChannel;
  readonly offset: number;
  readonly data: Buffer;
}

interface Entry {
  readonly channel: OutputChannel;
  readonly offset: number;
  buffer: Buffer;
  used: number;
  /** Whether `buffer` is ours to append to. */
  owned: boolean;
}

/** From this size on a view of the socket's chunk is kept; smaller pieces are copied, so that they do not hold a whole chunk. */
const KEEP_VIEW_BYTES = 16 * 1024;
const MAX_MERGED_BYTES = 64 * 1024;
/** With more entries than this, a piece joins the last one of its channel even when the other channel spoke between. */
const LOOSE_ORDER_ENTRIES = 256;
const MAX_ENTRIES = 8192;

/**
 * Output that waits for its reader, in order of arrival. Its bytes are bounded by the credit given; merging bounds what each byte
 * costs, so that a guest that sends single bytes takes no more memory than one that sends blocks.
 */
export class OutputQueue {
  #entries: Entry[] = [];
  #head = 0;
  #last: [Entry | undefined, Entry | undefined] = [undefined, undefined];

  get length(): number {
    return this.#entries.length - this.#head;
  }

  push(channel: OutputChannel, offset: number, data: Buffer): void {
    const target = this.#mergeTarget(channel, offset, data.length);
    if (target) {
      append(target, data);
      return;
    }
    // SECURITY: pieces that cannot be merged have gaps between them; a guest that sends thousands of those is not sane (G-10)
    if (this.length >= MAX_ENTRIES) throw protocolError("output in too many pieces");
    const owned = data.length < KEEP_VIEW_BYTES;
    const entry: Entry = { channel, offset, buffer: owned ? Buffer.from(data) : data, used: data.length, owned };
    this.#entries.push(entry);
    this.#last[channel - 1] = entry;
  }

  shift(): OutputChunk | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    } else if (this.#head >= 1024) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    if (this.#last[entry.channel - 1] === entry) this.#last[entry.channel - 1] = undefined;
    const { channel, offset, buffer, used } = entry;
    return { channel, offset, data: buffer.length === used ? buffer : buffer.subarray(0, used) };
  }

  #mergeTarget(channel: OutputChannel, offset: number, length: number): Entry | undefined {
    const last = this.#last[channel - 1];
    if (last === undefined || length >= KEEP_VIEW_BYTES) return undefined;
    if (last !== this.#entries.at(-1) && this.length < LOOSE_ORDER_ENTRIES) return undefined;
    return last.offset + last.used === offset && last.used + length <= MAX_MERGED_BYTES ? last : undefined;
  }
}

function append(entry: Entry, data: Buffer): void {
  const needed = entry.used + data.length;
  if (!entry.owned || needed > entry.buffer.length) {
    const grown = Buffer.allocUnsafeSlow(Math.min(MAX_MERGED_BYTES, Math.max(needed, 2 * entry.used)));
    entry.buffer.copy(grown, 0, 0, entry.used);
    entry.buffer = grown;
    entry.owned = true;
  }
  data.copy(entry.buffer, entry.used);
  entry.used = needed;
}
