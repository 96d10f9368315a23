import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLog } from "../base/log.ts";
import { Scratch } from "./scratch.ts";

let base: string;
let scratch: Scratch;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "scratch-"));
  scratch = new Scratch(join(base, "home"), silentLog);
});
afterEach(() => rmSync(base, { recursive: true }));

const notes = () => readdirSync(join(base, "home", "scratch"));

it("is beside the output and gone afterwards, with its note, however the work ends", async () => {
  const seen: string[] = [];
  const work = (path: string) => {
    mkdirSync(path);
    writeFileSync(join(path, "part"), "x");
    expect(notes()).toHaveLength(1);
    seen.push(path);
    return Promise.resolve(7);
  };
  expect(await scratch.beside(join(base, "out"), work)).toBe(7);
  const failing = scratch.beside(join(base, "out"), async (path) => {
    await work(path);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(seen.map((path) => [dirname(path), existsSync(path)])).toEqual([
    [base, false],
    [base, false],
  ]);
  expect(notes()).toEqual([]);
});

it("one that a killed daemon left is removed by the next; nothing else that a note names is", async () => {
  const left: string[] = [];
  void scratch.beside(join(base, "out"), (path) => {
    mkdirSync(path);
    left.push(path);
    return new Promise(() => undefined); // as if killed here
  });
  const precious = join(base, "precious");
  mkdirSync(precious);
  writeFileSync(join(base, "home", "scratch", "abcdefgh"), precious);
  expect(left).toHaveLength(1);
  await new Scratch(join(base, "home"), silentLog).clear();
  expect(readdirSync(base).sort()).toEqual(["home", basename(precious)]);
  expect(notes()).toEqual([]);
});
