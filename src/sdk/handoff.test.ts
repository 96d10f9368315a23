import { expect, it } from "vitest";
import { Handoff } from "./handoff.ts";

it("hands over one at a time, each when the one before was taken", async () => {
  const handoff = new Handoff<number>();
  const put: number[] = [];
  const maker = (async () => {
    for (let number = 1; number <= 3; number++) {
      await handoff.put(number);
      put.push(number);
    }
    handoff.end();
  })();
  await new Promise(setImmediate);
  expect(put).toEqual([]);
  expect(await handoff.take()).toBe(1);
  await new Promise(setImmediate);
  expect(put).toEqual([1]);
  expect([await handoff.take(), await handoff.take(), await handoff.take()]).toEqual([2, 3, undefined]);
  await maker;
});

it("gives what was put before it tells what went wrong", async () => {
  const handoff = new Handoff<number>();
  const putting = handoff.put(1);
  handoff.end(new Error("gone"));
  expect(await handoff.take()).toBe(1);
  await putting;
  await expect(handoff.take()).rejects.toThrow("gone");
});

it("that is dropped holds nobody up, and wakes who waits", async () => {
  const handoff = new Handoff<number>();
  const taking = handoff.take();
  handoff.drop(new Error("cancelled"));
  await expect(taking).rejects.toThrow("cancelled");
  await handoff.put(1);
  const full = new Handoff<number>();
  const putting = full.put(1);
  full.drop();
  await putting;
  expect(await full.take()).toBeUndefined();
});
