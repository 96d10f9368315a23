import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../../src/base/id-map.ts";
import { silentLog } from "../../src/base/log.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import type { Seeds } from "../../src/contracts/seeds.ts";
import { createSeeds } from "../../src/seeds/create-seeds.ts";

const MIB = 1024 * 1024;
const TIB = 1024 ** 4;

let base: string;
let source: string;
let cachePath: string;
let seeds: Seeds;
const at = (...parts: string[]) => join(source, ...parts);
const usedBytes = (path: string): number =>
  Number(execFileSync("du", ["-s", "--block-size=1", path]).toString().split("\t")[0]);

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "cloche-hostile-seeds-")));
  source = join(base, "project");
  cachePath = join(base, "cache");
  fs.mkdirSync(source);
  fs.mkdirSync(cachePath);
  seeds = createSeeds({ cachePath, idMap: currentIdMap(), log: silentLog });
});
afterEach(() => removeTree(base));

const leftInCache = () => (fs.existsSync(join(cachePath, "seeds")) ? fs.readdirSync(join(cachePath, "seeds")) : []);

describe("G-13 a project with pipes where git reads files", () => {
  beforeEach(() => {
    execFileSync("git", ["init", "-q", "-b", "main"], { cwd: source });
    fs.mkdirSync(at("sub", "deep"), { recursive: true });
    fs.writeFileSync(at("sub", "deep", "file"), "x");
  });

  it.each([
    [".gitignore"],
    ["sub/deep/.gitignore"],
    [".git/HEAD"],
    [".git/config"],
    [".git/index"],
    [".git/info/exclude"],
    [".git/packed-refs"],
    [".git/refs/heads/main"],
    [".git/commondir"],
  ])("is refused with its name, and nothing waits: %s", async (name) => {
    fs.rmSync(at(name), { force: true });
    execFileSync("mkfifo", [at(name)]);
    const began = performance.now();
    await expect(seeds.import(source, {})).rejects.toMatchObject({
      code: "SEED_INVALID",
      message: expect.stringContaining(at(name)) as string,
    });
    expect(performance.now() - began, "ms").toBeLessThan(20_000);
    expect(leftInCache().filter((one) => one.startsWith(".tmp"))).toEqual([]);
  });

  it("is refused also when the pipe stands behind a link", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    fs.rmSync(at(".git/info/exclude"), { force: true });
    fs.symlinkSync("../../pipe", at(".git/info/exclude"));
    await expect(seeds.import(source, {})).rejects.toMatchObject({
      code: "SEED_INVALID",
      message: expect.stringContaining("no ordinary file") as string,
    });
  });

  it("is taken without pipes that git does not read", async () => {
    for (const name of ["pipe", "sub/pipe", ".gitattributes", ".gitmodules"]) execFileSync("mkfifo", [at(name)]);
    const { tree } = await seeds.import(source, {});
    expect(fs.readdirSync(tree).sort()).toEqual([".git", "sub"]);
  });
});

describe("G-15 a project that is larger than it looks", () => {
  it("keeps its holes, and is imported in the time of what is in it", async () => {
    fs.writeFileSync(at("sparse"), "begin");
    fs.truncateSync(at("sparse"), TIB);
    const file = fs.openSync(at("sparse"), "r+");
    fs.writeSync(file, "middle", TIB / 2);
    fs.closeSync(file);
    fs.writeFileSync(at("zeros"), Buffer.alloc(MIB / 2));
    const began = performance.now();
    const { tree } = await seeds.import(source, {});
    expect(performance.now() - began, "ms").toBeLessThan(10_000);
    expect(usedBytes(tree)).toBeLessThan(MIB / 4);
    expect(fs.statSync(join(tree, "sparse")).size).toBe(TIB);
    const copy = fs.openSync(join(tree, "sparse"), "r");
    const found = Buffer.alloc(6);
    fs.readSync(copy, found, 0, 6, TIB / 2);
    fs.closeSync(copy);
    expect(found.toString()).toBe("middle");
    expect(fs.readFileSync(join(tree, "zeros")).equals(Buffer.alloc(MIB / 2))).toBe(true);
    expect((await seeds.import(source, {})).tree).toBe(tree);
  });

  it("has a file with 300 names once, as a folder and as an archive", async () => {
    const content = Buffer.alloc(MIB, "content ");
    fs.writeFileSync(at("0"), content);
    for (let name = 1; name < 300; name++) fs.linkSync(at("0"), at(String(name)));
    fs.linkSync(at("0"), join(base, "outside"));
    fs.writeFileSync(at("other"), "other");
    const archive = join(base, "project.tar");
    execFileSync("tar", ["-cf", archive, "-C", source, "."]);
    for (const seed of [source, archive]) {
      const { tree } = await seeds.import(seed, {});
      expect(usedBytes(tree), seed).toBeLessThan(2 * MIB);
      expect(fs.readdirSync(tree)).toHaveLength(301);
      expect(fs.readFileSync(join(tree, "299")).equals(content)).toBe(true);
      // never a name of the project's own file: a write there would be a write here
      expect(fs.statSync(join(tree, "0"))).toMatchObject({ nlink: 300 });
      expect(fs.statSync(join(tree, "0")).ino).not.toBe(fs.statSync(at("0")).ino);
    }
    expect(fs.statSync(at("0")).nlink).toBe(301);
  });
});

describe("G-15 an import does not take the last of the host's disk", () => {
  const DISK_MIB = 64;
  const NAMES = 4000;
  beforeEach(() => {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,nr_inodes=${NAMES},mode=755`, "tmpfs", cachePath]);
  });
  afterEach(() => {
    execFileSync("umount", [cachePath]);
  });

  const full = {
    code: "DISK_FULL",
    message: expect.stringContaining("but for the part that stays free") as string,
  };
  const content = (mib: number) => Buffer.alloc(mib * MIB, "x");

  it.each<[string, () => string]>([
    ["a large file", () => (fs.writeFileSync(at("large"), content(DISK_MIB - 1)), source)],
    [
      "many files",
      () => {
        for (let name = 0; name < DISK_MIB - 1; name++) fs.writeFileSync(at(String(name)), content(1));
        return source;
      },
    ],
    [
      "many names",
      () => {
        for (let name = 0; name < NAMES - 100; name++) fs.writeFileSync(at(String(name)), "");
        return source;
      },
    ],
    [
      "an archive that is small itself",
      () => {
        // not so small that it is refused for that
        const lines = Array.from(
          { length: (DISK_MIB - 1) * 16_384 },
          (_, line) => String(line).padStart(63, ".") + "\n",
        );
        fs.writeFileSync(at("large"), lines.join(""));
        execFileSync("tar", ["-czf", join(base, "small.tar.gz"), "-C", source, "."]);
        return join(base, "small.tar.gz");
      },
    ],
  ])("%s is refused, and leaves nothing", async (_, prepare) => {
    await expect(seeds.import(prepare(), {})).rejects.toThrow(expect.objectContaining(full) as Error);
    expect(leftInCache()).toEqual([]);
  });

  it("what leaves enough is taken", async () => {
    fs.writeFileSync(at("file"), content(DISK_MIB - 4));
    const { tree } = await seeds.import(source, {});
    expect(fs.statSync(join(tree, "file")).size).toBe((DISK_MIB - 4) * MIB);
  });
});
