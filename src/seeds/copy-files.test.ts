import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import { createSeeds } from "./create-seeds.ts";
import { copyScan } from "./copy-scan.ts";
import type { JobControl } from "./job-control.ts";
import { emptyScan, type Scan } from "./scan.ts";
import { SeedCache } from "./seed-cache.ts";
import { SourceChanged } from "./seed-errors.ts";

const MIB = 1024 ** 2;
/** More than are copied one by one. */
const MANY = 300;
let base: string;
let source: string;

beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-copy-"));
  source = join(base, "project");
  for (const folder of ["one", "two", "two/three"]) {
    fs.mkdirSync(join(source, folder), { recursive: true });
    for (let file = 0; file < MANY / 3; file++) fs.writeFileSync(join(source, folder, `${file}`), `${folder} ${file}`);
  }
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const at = (path: string) => join(source, path);
const importIt = async (signal?: AbortSignal) =>
  await createSeeds({ cachePath: join(base, "cache"), idMap: currentIdMap(), log: silentLog }).import(source, {
    signal,
  });

const names = (folder: string) => fs.readdirSync(folder, { recursive: true, encoding: "latin1" }).sort();

function scanOf(): Scan {
  const scan = emptyScan(source);
  const add = (folder: string) => {
    const below = fs.readdirSync(at(folder), { withFileTypes: true });
    for (const { name } of below) scan.entries.add(folder, name, fs.lstatSync(join(at(folder), name)));
    for (const one of below) if (one.isDirectory()) add(folder === "" ? one.name : `${folder}/${one.name}`);
  };
  add("");
  return scan;
}

function copy(scan: Scan, control: Partial<JobControl> = {}): Promise<unknown> {
  const owner = { kind: "test", uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { tree } = new SeedCache(join(base, "cache"), owner).begin();
  const signal = new AbortController().signal;
  return copyScan(scan, tree, { progress: () => undefined, aborted: () => false, signal, ...control });
}

describe("an import of many files", () => {
  it("has each as it is: content, time, mode without privileges, owner, odd names, holes and several names", async () => {
    fs.writeFileSync(at("empty"), "");
    fs.writeFileSync(at("one/large"), Buffer.alloc(3 * MIB + 1, "large "));
    fs.writeFileSync(at("zeros"), Buffer.alloc(MIB / 2));
    fs.writeFileSync(at("hole"), "begin");
    fs.truncateSync(at("hole"), 1024 ** 4);
    fs.writeFileSync(Buffer.from(`${source}/odd\xff`, "latin1"), "odd");
    fs.chmodSync(at("two/1"), 0o6711);
    fs.chmodSync(at("two/2"), 0o400);
    fs.utimesSync(at("two/3"), 1, 981_173_106.123);
    fs.linkSync(at("one/4"), at("two/other-name"));
    const { tree } = await importIt();
    expect(names(tree)).toEqual(names(source));
    const owner = currentIdMap().toHost(1000, 1000);
    for (const name of names(source).filter((one) => one !== "hole")) {
      const [from, to] = [source, tree].map((root) => Buffer.from(`${root}/${name}`, "latin1")) as [Buffer, Buffer];
      const [was, is] = [fs.lstatSync(from, { bigint: true }), fs.lstatSync(to, { bigint: true })];
      expect([is.mtimeNs / 1000n, is.size * BigInt(is.isFile()), Number(is.uid)], name).toEqual([
        was.mtimeNs / 1000n,
        was.size * BigInt(was.isFile()),
        owner.uid,
      ]);
      if (was.isFile()) expect(fs.readFileSync(to).equals(fs.readFileSync(from)), name).toBe(true);
    }
    const mode = (name: string) => fs.statSync(join(tree, name)).mode & 0o7777;
    expect([mode("two/1"), mode("two/2")]).toEqual([0o711, 0o600]);
    expect(fs.statSync(join(tree, "hole"))).toMatchObject({ size: 1024 ** 4 });
    for (const name of ["hole", "zeros"]) expect(fs.statSync(join(tree, name)).blocks, name).toBeLessThan(64);
    expect(fs.statSync(join(tree, "one/4")).ino).toBe(fs.statSync(join(tree, "two/other-name")).ino);
    expect(fs.statSync(join(tree, "one/4")).ino).not.toBe(fs.statSync(at("one/4")).ino);
  });

  it("G-24: reads no file that is not the one that was looked at, and follows no link that took a folder's place", async () => {
    const rewritten = scanOf();
    fs.writeFileSync(at("one/7"), "other"); // of the same length
    await expect(copy(rewritten)).rejects.toThrow(SourceChanged);
    const moved = scanOf();
    fs.renameSync(at("two"), join(base, "elsewhere"));
    fs.symlinkSync("../elsewhere", at("two"));
    await expect(copy(moved)).rejects.toThrow(SourceChanged);
    fs.rmSync(at("two"));
    await expect(copy(moved)).rejects.toThrow(SourceChanged);
  });

  it("stops when it is aborted, and leaves nothing", async () => {
    const stop = new AbortController();
    const whole = copy(scanOf(), { aborted: () => stop.signal.aborted, signal: stop.signal });
    stop.abort();
    await expect(whole).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(importIt(AbortSignal.abort())).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(importIt()).resolves.toBeDefined();
  });

  it("is looked at again for what was still fresh, and then no longer", async () => {
    const first = await importIt();
    fs.writeFileSync(at("one/1"), "ONE 1");
    const second = await importIt();
    expect(second.tree).not.toBe(first.tree);
    expect(fs.readFileSync(join(second.tree, "one/1"), "utf8")).toBe("ONE 1");
    expect((await importIt()).tree).toBe(second.tree);
  });
});
