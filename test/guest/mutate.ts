import { createRandom } from "../helpers/random.ts";

/** Where frames start; `bytes` are whole frames. */
function frameStarts(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) starts.push(at);
  return starts;
}

const BOUNDARIES = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

export interface Mutator {
  /** HELLO's chunk, then the others, cut at random. */
  next(): Buffer[];
  noise(): Buffer;
}

export function createMutator(seed: number, original: Buffer): Mutator {
  const random = createRandom(seed);
  const starts = frameStarts(original);
  const helloEnd = starts[1] ?? original.length;
  const frames = starts.map((start, index) => original.subarray(start, starts[index + 1] ?? original.length));
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;

  const flip = (bytes: Buffer, from: number) => {
    for (let times = 1 + random(4); times > 0; times--) {
      const at = from + random(bytes.length - from);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    }
    return bytes;
  };
  const boundary = (bytes: Buffer, from: number) => {
    const at = from + random(Math.max(1, bytes.length - from - 4));
    bytes.writeUInt32LE(pick(BOUNDARIES), Math.min(at, bytes.length - 4));
    return bytes;
  };
  /** Changes a frame's inside and leaves its length alone, so that the payload readers see it. */
  const inside = (change: (frame: Buffer, from: number) => Buffer): Buffer[] => {
    const at = 1 + random(frames.length - 1);
    return frames.map((frame, index) => (index === at ? change(Buffer.from(frame), 4) : frame));
  };
  const mutations: (() => Buffer[])[] = [
    () => inside(flip),
    () => inside(boundary),
    () => [flip(Buffer.from(original), helloEnd)],
    () => [boundary(Buffer.from(original), helloEnd)],
    () => [original.subarray(0, random(original.length))],
    () => frames.filter((_, index) => index === 0 || random(12) > 0),
    () => frames.flatMap((frame) => (random(10) === 0 ? [frame, frame] : [frame])),
    () => [frames[0] as Buffer, ...frames.slice(1).sort(() => random(3) - 1)],
    () => [
      original.subarray(0, helloEnd + random(original.length - helloEnd)),
      original.subarray(random(original.length)),
    ],
    () => inside((frame) => Buffer.concat([frame, noise(random(40))])),
    () => [flip(Buffer.from(original.subarray(0, helloEnd)), 0), original.subarray(helloEnd)],
  ];
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => random(256)));

  const cut = (bytes: Buffer): Buffer[] => {
    const chunks = [bytes.subarray(0, helloEnd)];
    const most = pick([1, 7, 100, 5000, 100_000]);
    // byte by byte takes long, so only a part of the bytes goes that way
    for (let at = helloEnd; at < bytes.length;) {
      const size = chunks.length > 400 ? bytes.length : 1 + random(most);
      chunks.push(bytes.subarray(at, at + size));
      at += size;
    }
    return chunks;
  };

  return {
    next: () => cut(Buffer.concat(pick(mutations)())),
    noise: () => {
      const bytes = noise(1 + random(300));
      // a length that fits now and then, or nothing but the length check would be tested
      if (random(2) === 0 && bytes.length > 9) bytes.writeUInt32LE(bytes.length - 4, 0);
      return bytes;
    },
  };
}
