import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Header, type HeaderData } from "tar";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import { createSeeds } from "./create-seeds.ts";

let base: string;
let archive: string;

beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-archive-"));
  archive = join(base, "seed.tar");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const importSeed = (path = archive) =>
  createSeeds({ cachePath: join(base, "cache"), idMap: currentIdMap(), log: silentLog }).import(path, {});

/** An archive of exactly these members, however wrong. */
function tarOf(...members: (HeaderData & { content?: string })[]): Buffer {
  const blocks = members.map(({ content = "", ...data }) => {
    const block = Buffer.alloc(512 + Math.ceil(content.length / 512) * 512);
    new Header({ mode: 0o644, mtime: new Date(1_600_000_000_000), type: "File", ...data, size: content.length }).encode(
      block,
      0,
    );
    block.write(content, 512);
    return block;
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

describe("import() of an archive", () => {
  it.each([
    ["seed.tar", ["-cf"]],
    ["seed.tar.gz", ["-czf"]],
    ["seed.tgz", ["-czf"]],
  ])("unpacks %s as made by tar", async (name, flags) => {
    const source = join(base, "source");
    const long = "d".repeat(120);
    fs.mkdirSync(join(source, "a", long), { recursive: true });
    fs.writeFileSync(join(source, "a", long, "ü.txt"), "deep");
    fs.writeFileSync(join(source, "big"), Buffer.alloc(1_500_000, "z"));
    fs.writeFileSync(join(source, "run"), "#!/bin/sh", { mode: 0o755 });
    fs.utimesSync(join(source, "run"), 1_600_000_000, 1_600_000_000);
    fs.chmodSync(join(source, "run"), 0o6755);
    fs.linkSync(join(source, "run"), join(source, "run2"));
    fs.symlinkSync("a/../run", join(source, "link"));
    execFileSync("tar", [...flags, join(base, name), "-C", source, "."]);

    const { tree, seed } = await importSeed(join(base, name));

    expect(seed).toEqual({
      mode: "tar_archive",
      seed_path: join(base, name),
      origin_kind: "seed_path",
      origin_ref: null,
      left_out: null,
      included: null,
    });
    expect(fs.readFileSync(join(tree, "a", long, "ü.txt"), "utf8")).toBe("deep");
    expect(fs.statSync(join(tree, "big")).size).toBe(1_500_000);
    expect(fs.statSync(join(tree, "run")).mode & 0o7777).toBe(0o755);
    expect(fs.statSync(join(tree, "run")).mtimeMs).toBe(1_600_000_000_000);
    expect(fs.readFileSync(join(tree, "run2"), "utf8")).toBe("#!/bin/sh");
    expect(fs.statSync(join(tree, "run2")).nlink).toBe(2);
    expect(fs.readlinkSync(join(tree, "link"))).toBe("a/../run");
    expect(fs.lstatSync(join(tree, "link"))).toMatchObject(currentIdMap().toHost(1000, 1000));
    expect((await importSeed(join(base, name))).tree).toBe(tree);
  });

  it("lets a later member take the place of an earlier, and keeps members without folders", async () => {
    fs.writeFileSync(
      archive,
      tarOf(
        { path: "x/y/a", content: "1" },
        { path: "x/y/a", content: "22" },
        { path: "l", type: "SymbolicLink", linkpath: "x/y/a" },
        { path: "l", content: "own" },
      ),
    );
    const { tree } = await importSeed();
    expect(fs.readFileSync(join(tree, "x/y/a"), "utf8")).toBe("22");
    expect(fs.readFileSync(join(tree, "l"), "utf8")).toBe("own");
  });

  it.each<[string, (HeaderData & { content?: string })[], string]>([
    ["an absolute name", [{ path: "/etc/x" }], "/etc/x"],
    ["a name with ..", [{ path: "a/../../x" }], "a/../../x"],
    ["a device", [{ path: "dev", type: "CharacterDevice", devmaj: 1, devmin: 3 }], "dev"],
    ["a pipe", [{ path: "pipe", type: "FIFO" }], "pipe"],
    ["a link to an absolute path", [{ path: "l", type: "SymbolicLink", linkpath: "/etc" }], "l"],
    ["a link that leaves", [{ path: "a/l", type: "SymbolicLink", linkpath: "x/../../../etc" }], "a/l"],
    ["a hard link that leaves", [{ path: "h", type: "Link", linkpath: "../x" }], "h"],
    ["a hard link to no member", [{ path: "h", type: "Link", linkpath: "missing" }], "h"],
    [
      "a hard link to a link",
      [
        { path: "l", type: "SymbolicLink", linkpath: "x" },
        { path: "h", type: "Link", linkpath: "l" },
      ],
      "h",
    ],
    [
      "a member below a link",
      [
        { path: "d", type: "Directory" },
        { path: "l", type: "SymbolicLink", linkpath: "d" },
        { path: "l/x", content: "1" },
      ],
      "l/x",
    ],
    [
      "a folder in a link's place",
      [
        { path: "l", type: "SymbolicLink", linkpath: "d" },
        { path: "l", type: "Directory" },
      ],
      "l",
    ],
  ])("refuses %s and names it", async (_, members, member) => {
    fs.writeFileSync(archive, tarOf({ path: "first", content: "1" }, ...members));
    await expect(importSeed()).rejects.toMatchObject({
      code: "SEED_INVALID",
      message: expect.stringContaining(`"${member}"`) as string,
    });
    expect(fs.readdirSync(join(base, "cache", "seeds"))).toEqual([]);
  });

  it("refuses what is no whole archive", async () => {
    const whole = tarOf({ path: "a", content: "x".repeat(5000) });
    const damaged = Buffer.from(whole);
    damaged[0] = 0x7a;
    const cases: Record<string, Buffer> = {
      "empty.tar": Buffer.alloc(0),
      "noise.tar": Buffer.from("not an archive".repeat(100)),
      "cut.tar": whole.subarray(0, 2000),
      "damaged.tar": damaged,
      "cut.tar.gz": gzipSync(whole).subarray(0, 40),
      "noise.tgz": Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100, 7)]),
    };
    for (const [name, content] of Object.entries(cases)) {
      fs.writeFileSync(join(base, name), content);
      await expect(importSeed(join(base, name)), name).rejects.toMatchObject({ code: "SEED_INVALID" });
    }
    expect(fs.readdirSync(join(base, "cache", "seeds"))).toEqual([]);
  });
});
