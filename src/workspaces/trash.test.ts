import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../base/log.ts";
import { Trash } from "./trash.ts";

const LONG_MS = 30_000;
let home: string;

beforeEach(() => (home = mkdtempSync(join(tmpdir(), "cloche-trash-"))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const inTrash = () => readdirSync(join(home, "trash"));

function makeTree(name: string): string {
  const path = join(home, name);
  mkdirSync(join(path, "folder"), { recursive: true });
  for (let file = 0; file < 100; file++) writeFileSync(join(path, "folder", String(file)), "");
  return path;
}

describe("Trash", () => {
  it("takes trees away at once, and has removed them when it says so", async () => {
    const trash = new Trash(home, silentLog);
    await Promise.all(["one", "two", "three"].map((name) => trash.take(makeTree(name))));
    expect(readdirSync(home)).toEqual(["trash"]);
    await trash.emptied(LONG_MS);
    expect(inTrash()).toEqual([]);
  });

  it("removes what an earlier daemon left", async () => {
    makeTree("trash/left");
    const trash = new Trash(home, silentLog);
    trash.recover();
    await trash.emptied(LONG_MS);
    expect(inTrash()).toEqual([]);
  });

  it("finds nothing wrong with what is not there", async () => {
    const trash = new Trash(home, silentLog);
    trash.recover();
    await trash.take(join(home, "nothing"));
    await trash.take(join(home, "no/folder/either"));
    await trash.emptied(LONG_MS);
  });

  it("removes at once where it cannot move anything", async () => {
    writeFileSync(join(home, "trash"), "in the way");
    await new Trash(home, silentLog).take(makeTree("one"));
    expect(readdirSync(home)).toEqual(["trash"]);
  });

  it("waits no longer than it is told", async () => {
    const trash = new Trash(home, silentLog);
    await trash.take(makeTree("one"));
    await trash.emptied(0);
    await trash.emptied(LONG_MS);
    expect(inTrash()).toEqual([]);
  });
});
