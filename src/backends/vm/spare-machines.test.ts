import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { SpareMachines } from "./spare-machines.ts";

let folder: string;
let spares: SpareMachines;
/** Resolves when one is being made. Its guest was taken over before it was saved, and never says that it is ready. */
let begun: Promise<void>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-sp-"));
  spares = new SpareMachines(folder, silentLog);
  begun = new Promise((begin) => {
    spares.wish("saved", (_place, signal) => {
      begin();
      return new Promise((_done, fail) => signal.addEventListener("abort", () => fail(new Error("given up"))));
    });
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

it("G-10 a machine that never gets ready does not hold up the end of the daemon", async () => {
  await begun;
  await spares.close();
  expect(readdirSync(folder)).toEqual([]);
});

it("G-10 a machine that never gets ready does not hold up the removal of what it was saved as", async () => {
  await begun;
  await spares.forget("saved");
  expect(readdirSync(folder)).toEqual([]);
});

it("one that is not wished any more is not begun", async () => {
  await spares.forget("saved");
  expect(await Promise.race([begun.then(() => "begun"), new Promise((done) => setTimeout(done, 1500, "left"))])).toBe(
    "left",
  );
});
