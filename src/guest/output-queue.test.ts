import { describe, expect, it } from "vitest";
import { OutputQueue, type OutputChunk } from "./output-queue.ts";

function drain(queue: OutputQueue): OutputChunk[] {
  const chunks: OutputChunk[] = [];
  for (let chunk = queue.shift(); chunk; chunk = queue.shift()) chunks.push(chunk);
  return chunks;
}

describe("OutputQueue", () => {
  it("keeps the order of arrival between channels", () => {
    const queue = new OutputQueue();
    queue.push(1, 0, Buffer.from("a"));
    queue.push(2, 0, Buffer.from("b"));
    queue.push(1, 1, Buffer.from("c"));
    expect(drain(queue).map(({ channel, data }) => `${channel}${data.toString()}`)).toEqual(["1a", "2b", "1c"]);
  });

  it("merges what follows directly, and not what has a gap before it", () => {
    const queue = new OutputQueue();
    queue.push(1, 0, Buffer.from("ab"));
    queue.push(1, 2, Buffer.from("cd"));
    queue.push(1, 9, Buffer.from("x"));
    expect(drain(queue).map(({ offset, data }) => [offset, data.toString()])).toEqual([
      [0, "abcd"],
      [9, "x"],
    ]);
  });

  it("holds single bytes of two channels in few pieces, each channel in order", () => {
    const queue = new OutputQueue();
    const count = 100_000;
    for (let at = 0; at < count; at++) {
      queue.push(1, at, Buffer.of(at & 0xff));
      queue.push(2, at, Buffer.of((at + 1) & 0xff));
    }
    expect(queue.length).toBeLessThan(400);
    const chunks = drain(queue);
    for (const channel of [1, 2] as const) {
      const own = chunks.filter((chunk) => chunk.channel === channel);
      const bytes = Buffer.concat(own.map(({ data }) => data));
      expect(bytes).toHaveLength(count);
      expect(bytes.every((byte, at) => byte === ((at + channel - 1) & 0xff))).toBe(true);
      let next = 0;
      for (const { offset, data } of own) {
        expect(offset).toBe(next);
        next += data.length;
      }
    }
  });

  it("does not hold the chunk that a small piece came in, nor change under a later one", () => {
    const queue = new OutputQueue();
    const chunk = Buffer.alloc(65_536, 1);
    queue.push(1, 0, chunk.subarray(0, 10));
    chunk.fill(2);
    const [piece] = drain(queue);
    expect(piece?.data).toEqual(Buffer.alloc(10, 1));
    expect(piece?.data.buffer).not.toBe(chunk.buffer);
  });

  it("refuses thousands of pieces with gaps between them", () => {
    const queue = new OutputQueue();
    expect(() => {
      for (let at = 0; at < 20_000; at++) queue.push(1, 2 * at, Buffer.of(1));
    }).toThrow(expect.objectContaining({ code: "GUEST_PROTOCOL" }));
  });

  it("can be filled and emptied in turns without end", () => {
    const queue = new OutputQueue();
    let next = 0;
    for (let at = 0; at < 5000; at++) {
      queue.push(1, 2 * at, Buffer.of(1));
      queue.push(2, 2 * at, Buffer.of(1));
      next = queue.shift()?.offset ?? -1;
    }
    expect(next).toBeGreaterThan(0);
    expect(drain(queue).at(-1)?.offset).toBe(9998);
  });
});
