import { expect, it } from "vitest";
import { OutputQueue } from "./output-queue.ts";

const chunk = (text: string) => ({ channel: "stdout" as const, data: Buffer.from(text) });
const isSettled = async (work: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  void work.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
};

it("gives chunks in order, to a reader that comes early or late", async () => {
  const queue = new OutputQueue(100);
  const read = (async () => {
    const texts = [];
    for await (const { data } of queue.read()) texts.push(data.toString());
    return texts;
  })();
  await queue.push(chunk("a"));
  await queue.push(chunk("b"));
  queue.end();
  expect(await read).toEqual(["a", "b"]);
});

it("holds the writer up at the mark until the reader made room", async () => {
  const queue = new OutputQueue(4);
  const pushed = queue.push(chunk("12345"));
  expect(await isSettled(pushed)).toBe(false);
  const reader = queue.read();
  await reader.next();
  await pushed;
});

it("drops the rest when the reader leaves", async () => {
  const queue = new OutputQueue(4);
  const pushed = queue.push(chunk("12345"));
  const reader = queue.read();
  await reader.next();
  await reader.return();
  await pushed;
  await queue.push(chunk("1234567890"));
});

it("may be read once", async () => {
  const queue = new OutputQueue(4);
  queue.end();
  expect(await queue.read().next()).toMatchObject({ done: true });
  await expect(queue.read().next()).rejects.toThrow("once");
});
