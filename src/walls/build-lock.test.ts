import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeBuildLock, tryBuildLock } from "./build-lock.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cl-bl-"))));
afterEach(() => rmSync(folder, { recursive: true }));

it("is held by one at a time however many come, and leaves no file", async () => {
  const file = join(folder, ".lock-x");
  let [inside, most, turns] = [0, 0, 0];
  const work = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) {
      const lock = await takeBuildLock(file, {});
      most = Math.max(most, ++inside);
      expect(await tryBuildLock(file)).toBeUndefined();
      turns++;
      inside--;
      await lock.release();
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  expect([most, turns]).toEqual([1, 20]);
  expect(readdirSync(folder)).toEqual([]);
});

it("is not taken by who gives up waiting, and the next in line gets it", async () => {
  const file = join(folder, ".lock-x");
  const first = await takeBuildLock(file, {});
  const abort = new AbortController();
  const onWait = (): void => void setImmediate(() => abort.abort());
  await expect(takeBuildLock(file, { signal: abort.signal, onWait })).rejects.toMatchObject({ code: "CANCELLED" });
  const next = takeBuildLock(file, {});
  await first.release();
  await (await next).release();
  expect(readdirSync(folder)).toEqual([]);
});
