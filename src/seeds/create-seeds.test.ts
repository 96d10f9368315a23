import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import type { Seeds } from "../contracts/seeds.ts";
import { createSeeds } from "./create-seeds.ts";
import { isFresh } from "./fresh-files.ts";

let base: string;
let source: string;
let cachePath: string;
let seeds: Seeds;

beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), "cloche-seeds-"));
  source = join(base, "project");
  cachePath = join(base, "cache");
  fs.mkdirSync(source);
  seeds = createSeeds({ cachePath, idMap: currentIdMap(), log: silentLog });
});

afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const cached = () => fs.readdirSync(join(cachePath, "seeds"));
const at = (...parts: string[]) => join(source, ...parts);

/** Everything that `lstat` tells of a tree, access times aside. */
function fingerprint(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .concat("")
    .sort()
    .map((name) => {
      const { ino, mode, size, mtimeNs, ctimeNs, nlink, uid, gid } = fs.lstatSync(join(folder, name), { bigint: true });
      return [name, ino, mode, size, mtimeNs, ctimeNs, nlink, uid, gid].join(" ");
    });
}

describe("import() of nothing", () => {
  it("gives the same empty tree each time", async () => {
    const first = await seeds.import(undefined, {});
    const second = await seeds.import(undefined, {});
    expect(second.tree).toBe(first.tree);
    expect(fs.readdirSync(first.tree)).toEqual([]);
    expect(first.seed).toEqual({
      mode: "empty",
      seed_path: null,
      origin_kind: null,
      origin_ref: null,
      left_out: null,
      included: null,
    });
    const owner = currentIdMap().toHost(1000, 1000);
    expect(fs.statSync(first.tree)).toMatchObject({ uid: owner.uid, gid: owner.gid });
    expect(fs.statSync(first.tree).mode & 0o7777).toBe(0o755);
  });
});

describe("import() of a plain folder", () => {
  it("copies files, folders and links, owned by the sandbox's user, and leaves the source as it was", async () => {
    fs.mkdirSync(at("empty"));
    fs.mkdirSync(at("deep", "er"), { recursive: true });
    fs.writeFileSync(at("deep", "er", "a.txt"), "hello");
    fs.writeFileSync(at("run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    fs.writeFileSync(at("secret"), "s", { mode: 0o400 });
    fs.writeFileSync(at("big"), Buffer.alloc(3_000_000, "x"));
    fs.chmodSync(at("run.sh"), 0o4755);
    fs.utimesSync(at("run.sh"), 1_600_000_000.25, 1_600_000_000.25);
    fs.symlinkSync("/etc/passwd", at("absolute"));
    fs.symlinkSync("gone", at("dangling"));
    const before = fingerprint(source);

    const { tree, seed } = await seeds.import(source, {});

    expect(fingerprint(source)).toEqual(before);
    expect(seed).toEqual({
      mode: "directory",
      seed_path: source,
      origin_kind: "seed_path",
      origin_ref: null,
      left_out: null,
      included: null,
    });
    expect(fs.readFileSync(join(tree, "deep/er/a.txt"), "utf8")).toBe("hello");
    expect(fs.readFileSync(join(tree, "big")).equals(fs.readFileSync(at("big")))).toBe(true);
    expect(fs.readdirSync(join(tree, "empty"))).toEqual([]);
    expect(fs.readlinkSync(join(tree, "absolute"))).toBe("/etc/passwd");
    expect(fs.readlinkSync(join(tree, "dangling"))).toBe("gone");
    expect(fs.statSync(join(tree, "run.sh")).mode & 0o7777).toBe(0o755);
    expect(fs.statSync(join(tree, "run.sh")).mtimeMs).toBe(1_600_000_000_250);
    expect(fs.statSync(join(tree, "secret")).mode & 0o7777).toBe(0o600);
    const owner = currentIdMap().toHost(1000, 1000);
    for (const name of fs.readdirSync(tree, { recursive: true, encoding: "utf8" })) {
      expect(fs.lstatSync(join(tree, name))).toMatchObject({ ...owner, nlink: expect.any(Number) as number });
    }
    expect(fs.statSync(join(tree, "deep/er/a.txt")).nlink).toBe(1);
  });

  it("keeps names that are no UTF-8", async () => {
    const odd = Buffer.from([0x6e, 0xff, 0x0a, 0x2f, 0x78]).subarray(0, 3);
    const folder = Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0x64, 0xe9])]);
    fs.mkdirSync(folder);
    fs.writeFileSync(Buffer.concat([folder, Buffer.from("/"), odd]), "odd");
    const { tree } = await seeds.import(source, {});
    const copy = Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0x64, 0xe9])]);
    expect(fs.readdirSync(copy, { encoding: "buffer" })).toEqual([odd]);
  });

  it("leaves out pipes and sockets and says so", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at("socket"), resolve));
    try {
      const steps: string[] = [];
      const { tree } = await seeds.import(source, { progress: ({ step }) => steps.push(step) });
      expect(fs.readdirSync(tree)).toEqual([]);
      expect(steps.join("\n")).toContain('"pipe", "socket"');
    } finally {
      server.close();
    }
  });

  it("does not take along the cache that it writes to", async () => {
    seeds = createSeeds({ cachePath: at(".cache", "cloche"), idMap: currentIdMap(), log: silentLog });
    await seeds.import(undefined, {});
    const { tree } = await seeds.import(source, {});
    expect(fs.readdirSync(join(tree, ".cache"))).toEqual([]);
  });

  it("names the file that cannot be read", async () => {
    fs.mkdirSync(at("closed"));
    fs.writeFileSync(at("closed", "key"), "");
    fs.chmodSync(at("closed"), 0o000);
    const message = await importAsNobody();
    expect(message).toContain(`SEED_UNREADABLE Cannot read "${at("closed")}": permission denied`);
    fs.chmodSync(at("closed"), 0o755);
    fs.chmodSync(at("closed", "key"), 0o000);
    expect(await importAsNobody()).toContain(`SEED_UNREADABLE Cannot read "${at("closed", "key")}": permission denied`);
  });

  /** Root reads everything, so the import runs with another user id for a while. */
  async function importAsNobody(): Promise<string> {
    fs.chmodSync(base, 0o755);
    fs.mkdirSync(cachePath, { recursive: true, mode: 0o700 });
    const root = process.getuid?.() === 0;
    if (root) fs.chownSync(cachePath, 65_534, 65_534);
    if (root) process.setegid?.(65_534);
    if (root) process.seteuid?.(65_534);
    try {
      const idMap = {
        kind: "single",
        toHost: () => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }),
      } as const;
      await createSeeds({ cachePath, idMap, log: silentLog }).import(source, {});
      return "imported";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code} ${message}`;
    } finally {
      if (root) process.seteuid?.(0);
      if (root) process.setegid?.(0);
    }
  }
});

describe("import() of what is no seed", () => {
  it.each([
    ["a missing path", () => at("missing"), "SEED_NOT_FOUND"],
    ["the root of the host", () => "/", "SEED_INVALID"],
    ["a link to the root of the host", () => at("root"), "SEED_INVALID"],
    ["a file that is no archive", () => at("file.txt"), "SEED_INVALID"],
    ["a path below a file", () => at("file.txt", "x"), "SEED_NOT_FOUND"],
    ["a pipe", () => at("pipe.tar"), "SEED_INVALID"],
    ["a link to itself", () => at("loop"), "SEED_INVALID"],
  ])("refuses %s", async (_, path, code) => {
    fs.writeFileSync(at("file.txt"), "");
    fs.symlinkSync("/", at("root"));
    fs.symlinkSync("loop", at("loop"));
    execFileSync("mkfifo", [at("pipe.tar")]);
    await expect(seeds.import(path(), {})).rejects.toMatchObject({ code });
  });
});

describe("the cache", () => {
  it("gives the same tree for the same state and another for another", async () => {
    fs.writeFileSync(at("a"), "1");
    const first = await seeds.import(source, {});
    expect((await seeds.import(source, {})).tree).toBe(first.tree);
    fs.writeFileSync(at("a"), "22");
    const second = await seeds.import(source, {});
    expect(second.tree).not.toBe(first.tree);
    expect(fs.readFileSync(join(first.tree, "a"), "utf8")).toBe("1");
    expect(fs.readFileSync(join(second.tree, "a"), "utf8")).toBe("22");
  });

  it.each([
    [
      "a link's target",
      () => {
        fs.rmSync(at("link"));
        fs.symlinkSync("two", at("link"));
      },
    ],
    ["a file's mode", () => fs.chmodSync(at("b", "c"), 0o700)],
    ["a folder's mode", () => fs.chmodSync(at("b"), 0o700)],
    ["a file's name", () => fs.renameSync(at("b", "c"), at("b", "d"))],
    ["a file's folder", () => fs.renameSync(at("b", "c"), at("c"))],
    ["an empty folder", () => fs.mkdirSync(at("e"))],
    [
      "a file's content with the size and time it had",
      () => {
        const { atimeMs, mtimeMs } = fs.statSync(at("b", "c"));
        fs.writeFileSync(at("b", "c"), "2");
        fs.utimesSync(at("b", "c"), atimeMs / 1000, mtimeMs / 1000);
      },
    ],
  ])("takes another tree for %s", async (_, change) => {
    fs.mkdirSync(at("b"));
    fs.writeFileSync(at("b", "c"), "1");
    fs.symlinkSync("one", at("link"));
    const first = await seeds.import(source, {});
    change();
    const second = await seeds.import(source, {});
    expect(second.tree).not.toBe(first.tree);
    expect((await seeds.import(source, {})).tree).toBe(second.tree);
  });

  it("sees a file that was rewritten with the same size and times within the clock's grain", async () => {
    fs.writeFileSync(at("a"), "1");
    const first = await seeds.import(source, {});
    // No file system call can set the change time, so the record is made what it would have been.
    const record = join(first.tree, "..", "seed.json");
    const sha256 = "0".repeat(64);
    fs.writeFileSync(record, JSON.stringify({ head: null, fresh: [{ path: "a", sha256 }] }));
    const second = await seeds.import(source, {});
    expect(second.tree).not.toBe(first.tree);
    expect((await seeds.import(source, {})).tree).toBe(second.tree);
  });

  it("looks at a fresh file's content again until its times tell enough, and then no longer", async () => {
    fs.writeFileSync(at("a"), "1");
    const { tree } = await seeds.import(source, {});
    const record = join(tree, "..", "seed.json");
    const sha256 = createHash("sha256").update("1").digest("hex");
    fs.writeFileSync(record, JSON.stringify({ head: null, fresh: [{ path: "a", sha256 }] }));
    await vi.waitFor(
      async () => {
        expect((await seeds.import(source, {})).tree).toBe(tree);
        expect(JSON.parse(fs.readFileSync(record, "utf8"))).toMatchObject({ fresh: [] });
      },
      { timeout: 30_000 },
    );
    expect(isFresh(fs.statSync(at("a")).ctimeMs, Date.now())).toBe(false);
  });

  it("is safe when several import at once, also from two daemons", async () => {
    for (let index = 0; index < 50; index += 1) fs.writeFileSync(at(`f${index}`), String(index));
    const other = createSeeds({ cachePath, idMap: currentIdMap(), log: silentLog });
    const all = await Promise.all([seeds, other, seeds, other].map((each) => each.import(source, {})));
    expect(new Set(all.map(({ tree }) => tree)).size).toBe(1);
    expect(fs.readdirSync(all[0]!.tree)).toHaveLength(50);
    expect(cached()).toHaveLength(1);
  });

  it("starts again when a file changes during the import, and gives up when it never rests", async () => {
    fs.writeFileSync(at("a"), "1");
    let changes = 0;
    const change = (times: number) => ({
      progress: ({ step }: { step: string }) => {
        if (step.startsWith("Importing") && changes++ < times) fs.writeFileSync(at("a"), "x".repeat(changes + 1));
      },
    });
    const { tree } = await seeds.import(source, change(1));
    expect(fs.readFileSync(join(tree, "a"), "utf8")).toBe("xx");
    fs.writeFileSync(at("a"), "again");
    await expect(seeds.import(source, change(100))).rejects.toMatchObject({
      code: "SEED_UNREADABLE",
      message: `Cannot import "${source}": "${at("a")}" keeps changing`,
    });
    expect(cached()).toHaveLength(1);
  });

  it("stops when it is aborted and leaves nothing", async () => {
    fs.writeFileSync(at("a"), "1");
    const controller = new AbortController();
    const progress = ({ step }: { step: string }) => {
      if (step.startsWith("Importing")) controller.abort();
    };
    await expect(seeds.import(source, { signal: controller.signal, progress })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(cached()).toEqual([]);
  });

  it("says that the disk is full and leaves nothing", async () => {
    fs.mkdirSync(cachePath);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", cachePath]);
    if (mounted.status !== 0) throw new Error(`this test mounts a small tmpfs: ${String(mounted.stderr)}`);
    try {
      fs.writeFileSync(at("big"), Buffer.alloc(2_000_000));
      await expect(seeds.import(source, {})).rejects.toMatchObject({ code: "DISK_FULL" });
      expect(cached()).toEqual([]);
    } finally {
      execFileSync("umount", [cachePath]);
    }
  });

  it("prunes what is not in use, and what a dead process left", async () => {
    fs.writeFileSync(at("a"), "1");
    const first = await seeds.import(source, {});
    fs.writeFileSync(at("b"), "1");
    const second = await seeds.import(source, {});
    const dead = spawnSync("true").pid;
    fs.mkdirSync(join(cachePath, "seeds", `.tmp-${dead}-x`));
    fs.mkdirSync(join(cachePath, "seeds", `.tmp-${process.pid}-y`));
    expect(await seeds.prune(new Set([second.tree]))).toEqual({ removed: 1 });
    expect(fs.existsSync(first.tree)).toBe(false);
    expect(fs.existsSync(join(second.tree, "a"))).toBe(true);
    expect(cached().filter((name) => name.startsWith(".tmp"))).toEqual([`.tmp-${process.pid}-y`]);
  });
});
