import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GuestFiles } from "../../src/guest/files.ts";
import { packLayer, unpackLayer } from "../../src/walls/layer-stream.ts";
import { idMap, LayeredWalls, type Sandbox } from "./layered-walls.ts";

const MIB = 1024 * 1024;
const TIB = 1024 ** 4;
const LEVELS = 5000;

let walls: LayeredWalls;
let sandbox: Sandbox;
beforeAll(async () => {
  walls = new LayeredWalls((own, baseline) => {
    mkdirSync(join(baseline, "old"));
    for (const name of ["same", "other"]) {
      writeFileSync(join(baseline, name), "begin");
      truncateSync(join(baseline, name), TIB);
    }
    for (const path of ["old", "same", "other"]) own(path);
  });
  sandbox = await walls.start([]);
});
afterAll(async () => {
  await sandbox.wall.stop();
  await walls[Symbol.asyncDispose]();
});

const folder = (name: string) => join(walls.home, "copies", name);
const usedBytes = (path: string): number =>
  Number(execFileSync("du", ["-s", "--block-size=1", path]).toString().split("\t")[0]);
const perl = (code: string) => sandbox.sh(`perl -e '${code}'`);

/** The layer as every way of saving one has it. */
async function everyCopy(name: string): Promise<string[]> {
  await walls.backend.copyLayer(sandbox.directory, folder(`${name}-copied`), undefined);
  await unpackLayer(packLayer(folder(`${name}-copied`), idMap), folder(`${name}-packed`), idMap);
  const root = new GuestFiles(sandbox.client, { uid: 0, gid: 0 });
  await unpackLayer(root.layerOut(), folder(`${name}-sent`), idMap);
  return ["copied", "packed", "sent"].map((way) => folder(`${name}-${way}`));
}

describe("G-15 a file with many names", () => {
  it("is saved once, with all its names, whichever way a layer goes", async () => {
    await sandbox.sh(`mkdir links; head -c ${MIB} /dev/urandom > links/0; chmod 640 links/0
      for i in $(seq 299); do ln links/0 links/$i; done; mkdir more; ln links/0 more/again; echo alone > links/alone; sha256sum < links/0 > sum`);
    const sum = (await sandbox.sh("cat sum")).trim();
    for (const layer of await everyCopy("links")) {
      expect(usedBytes(layer), layer).toBeLessThan(2 * MIB);
      expect(lstatSync(join(layer, "links/7"))).toMatchObject({ nlink: 301, size: MIB });
      expect(lstatSync(join(layer, "links/7")).mode & 0o7777).toBe(0o640);
      expect(lstatSync(join(layer, "more/again")).ino).toBe(lstatSync(join(layer, "links/0")).ino);
      expect(lstatSync(join(layer, "links/alone")).nlink).toBe(1);
      expect(readdirSync(layer).filter((one) => one.startsWith(".cloche"))).toEqual([]);
    }
    const next = await walls.start([folder("links-sent")]);
    // Names come apart at the first change, as they do over any read-only layer.
    expect(await next.sh("sha256sum < more/again; ls links | wc -l; echo x > links/3; sha256sum < links/0")).toBe(
      `${sum}\n301\n${sum}\n`,
    );
    await next.wall.stop();
    await sandbox.sh("rm -r links more sum");
  });

  it("may have more names than the file system gives one file", async () => {
    await sandbox.sh("mkdir many; echo x > many/0; cd many; perl -e 'for (1..64999) { link \"0\", $_ or last }'");
    const names = Number(await sandbox.sh("ls many | wc -l"));
    for (const layer of await everyCopy("many")) expect(readdirSync(join(layer, "many")).length, layer).toBe(names);
    await sandbox.sh("rm -r many");
  }, 120_000);
});

describe("G-10 a tree that is deeper than any path", () => {
  it("hides nothing else from a diff or a list, and is saved as it is", async () => {
    const deep = `my ($n, $d) = @_; for (1..$n) { mkdir $d or die $!; chdir $d or die $! } open my $f, ">", "end"; print $f "bottom"; close $f; chdir "/workspace"`;
    await perl(`sub deep { ${deep} } mkdir "t"; chdir "t"; deep(${LEVELS}, "d"); chdir "old"; deep(60, "x" x 200)`);
    await sandbox.sh("echo here > beside; echo last > zlast");
    const changes = await sandbox.files.changes();
    const told = changes.map(({ status, path, newType }) => [status, newType, path.length > 100 ? path.length : path]);
    expect(told).toContainEqual(["added", "file", "beside"]);
    expect(told).toContainEqual(["added", "file", "zlast"]);
    // The folder below which nothing can be told stands for it: one of each tree.
    expect(told.filter(([status, type]) => status === "modified" && type === "directory")).toHaveLength(2);
    expect(changes).toHaveLength(4);
    const listed = await sandbox.files.list("workspace", "", { recursive: true });
    expect(listed.map(({ path }) => path)).toEqual(expect.arrayContaining(["beside", "zlast", "t/d/d/d"]));
    expect(Math.max(...listed.map(({ pathBytes }) => pathBytes.length))).toBeLessThanOrEqual(4096);

    const bottom = `use Cwd; my ($n, $d) = @_; for (1..$n) { chdir $d or die "$_ $!" } open my $f, "<", "end" or die $!; print <$f>; chdir "/workspace"`;
    const check = `sub bottom { ${bottom} } chdir "t"; bottom(${LEVELS}, "d"); chdir "old"; bottom(60, "x" x 200)`;
    for (const layer of await everyCopy("deep")) {
      const next = await walls.start([layer]);
      expect(await next.sh(`perl -e '${check}'`), layer).toBe("bottombottom");
      await next.wall.stop();
    }
    await sandbox.sh("rm -rf t old/*; rm beside zlast");
  }, 120_000);

  it("G-11 is copied whole or not at all when it is moved meanwhile", async () => {
    await perl(`mkdir "m"; chdir "m"; for (1..600) { mkdir "d" or die; chdir "d" or die }`);
    const moving = sandbox.sh(
      `cd m; perl -e 'my $in = "d/" x 300; chop $in; mkdir "e"; for (1..4000) { rename $in, "e/x"; rename "e/x", $in }'`,
    );
    for (let at = 0; at < 5; at++) {
      const copying = walls.backend.copyLayer(sandbox.directory, folder(`moved-${at}`), undefined);
      await copying.catch((error: unknown) => expect(String(error)).toMatch(/moved meanwhile/));
    }
    await moving;
    await sandbox.sh("rm -rf m");
  }, 120_000);
});

describe("G-15 a file that is mostly a hole", () => {
  it("is compared and saved in the time and the room of what is in it", async () => {
    await sandbox.sh(
      `touch same; printf x | dd of=other bs=1 seek=${TIB / 2} conv=notrunc status=none; truncate -s 1T hole`,
    );
    const began = performance.now();
    const changes = await sandbox.files.changes();
    expect(changes.map(({ status, path }) => `${status} ${path}`)).toEqual(["added hole", "modified other"]);
    for (const layer of await everyCopy("holes")) {
      expect(usedBytes(layer), layer).toBeLessThan(4 * MIB);
      expect(lstatSync(join(layer, "hole")).size).toBe(TIB);
      expect(lstatSync(join(layer, "other")).size).toBe(TIB);
    }
    expect(performance.now() - began, "ms").toBeLessThan(20_000);
    await sandbox.sh("rm hole");
  });

  it("is one again when it comes as zeros", async () => {
    const zeros = Buffer.alloc(8 * MIB);
    zeros.write("middle", 3 * MIB + 17);
    await sandbox.files.write("workspace", "written", zeros);
    expect(await sandbox.sh("stat -c '%s' written; tail -c +3145746 written | head -c 6")).toBe(`${8 * MIB}\nmiddle`);
    expect(Number(await sandbox.sh("stat -c %b written"))).toBeLessThan(64);
    await sandbox.sh("rm written");
  });
});
