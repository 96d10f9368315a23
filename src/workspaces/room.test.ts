import { expect, it } from "vitest";
import { roomFor, withinRoom } from "./room.ts";

async function* items(...sizes: number[]) {
  for (const size of sizes)
    yield await Promise.resolve({ type: size < 0 ? "directory" : "file", size: Math.abs(size) });
}
async function sizes(stream: AsyncIterable<{ size: number }>): Promise<number[]> {
  const seen: number[] = [];
  for await (const { size } of stream) seen.push(size);
  return seen;
}

it("lets through what fits together, and nothing of what does not", async () => {
  expect(await sizes(withinRoom(items(4, -4096, 6), 10))).toEqual([4, 4096, 6]);
  await expect(sizes(withinRoom(items(4, 7), 10))).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
  expect(await sizes(withinRoom(items(3e12), undefined))).toEqual([3e12]);
});

it("knows the room of a folder that is there", () => {
  expect(roomFor("/tmp/x")).toBeGreaterThan(0);
  expect(roomFor("/no/such/folder/x")).toBeUndefined();
});
