import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT } from "./real-guest.ts";
import { idMap, LayeredWalls, type Sandbox } from "./layered-walls.ts";

let walls: LayeredWalls;
beforeAll(() => {
  walls = new LayeredWalls((own, baseline) => {
    mkdirSync(join(baseline, "dir"));
    for (const path of ["file", "gone", "dir/a", "dir/b"]) writeFileSync(join(baseline, path), `${path}\n`);
    for (const path of ["dir", "file", "gone", "dir/a", "dir/b"]) own(path);
  });
});
afterAll(async () => {
  await walls[Symbol.asyncDispose]();
});

const layer = (name: string) => join(walls.home, "copies", name);
const copy = (sandbox: Sandbox, name: string, signal?: AbortSignal) =>
  walls.backend.copyLayer(sandbox.directory, layer(name), signal);
const shown = async (sandbox: Sandbox) =>
  (await sandbox.files.changes()).map(({ status, path }) => `${status} ${path}`);
const leftovers = () => readdirSync(join(walls.home, "copies")).filter((name) => name.endsWith(".tmp"));

const RUNTIMES = [undefined, "runc"];

describe("layers over the baseline", () => {
  it.each(RUNTIMES)("stack up as they were copied from running sandboxes (%s)", async (runtime) => {
    const name = runtime ?? "own";
    const one = await walls.start([], runtime);
    await one.sh("echo 1 > one; rm gone; rm -r dir; mkdir dir; echo c > dir/c; ln -s one link");
    expect(await copy(one, `${name}-1`, undefined)).toBe(4);
    await one.sh("echo more > one");
    const two = await walls.start([layer(`${name}-1`)], runtime);
    expect(await two.sh("cat one; ls dir; readlink link; echo gone*")).toBe("1\nc\none\ngone*\n");
    await two.sh("rm link; echo back > gone; echo d > dir/d; echo 2 > file");
    await copy(two, `${name}-2`);
    const three = await walls.start([layer(`${name}-1`), layer(`${name}-2`)], runtime);
    await three.sh("mkdir dir/sub; echo e > dir/sub/e; rm dir/c; printf 'file\\n' > file");
    expect(await shown(three)).toEqual([
      "deleted dir/a",
      "deleted dir/b",
      "added dir/d",
      "added dir/sub/e",
      "modified gone",
      "added one",
    ]);
    expect(await shown(two)).toContain("added dir/c");
    for (const { wall } of [one, two, three]) await wall.stop();
  });

  it("stack up under gVisor", async () => {
    const one = await walls.start([], "runsc");
    await one.sh("echo 1 > one; rm gone; echo c > dir/c");
    await copy(one, "runsc-1");
    await one.wall.stop();
    const two = await walls.start([layer("runsc-1")], "runsc");
    await two.sh("rm dir/a; echo d > dir/d");
    expect(await shown(two)).toEqual(["deleted dir/a", "added dir/c", "added dir/d", "deleted gone", "added one"]);
    await two.wall.stop();
  });

  it("can be 64, and no more", async () => {
    const first = await walls.start([]);
    await first.sh("echo deep > deep");
    await copy(first, "many");
    await first.wall.stop();
    const empty = Array.from({ length: 63 }, (_, index) => {
      const path = join(walls.home, `empty-${index}`);
      mkdirSync(path, { mode: 0o755 });
      return path;
    });
    const stacked = await walls.start([layer("many"), ...empty]);
    expect(await stacked.sh("cat deep")).toBe("deep\n");
    expect(await shown(stacked)).toEqual(["added deep"]);
    await stacked.wall.stop();
    await expect(walls.start([layer("many"), ...empty, empty[0]!])).rejects.toThrow("more than 64 times --layer");
  });

  it("cannot be reached by a command", async () => {
    const sandbox = await walls.start([layer("many")]);
    const seen = await sandbox.sh(
      "ls /.cloche/layers/0 /.cloche/upper 2>&1; grep -c cloche/layers /proc/self/mountinfo; :",
    );
    expect(seen).not.toContain("deep");
    expect(seen.trim().split("\n").at(-1)).toBe("0");
    await sandbox.sh("echo changed > deep; rm -f dir/a");
    expect(readFileSync(join(layer("many"), "deep"), "utf8")).toBe("deep\n");
    await sandbox.wall.stop();
  });
});

describe("a copy of a layer", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await walls.start([]);
  });

  it("keeps content, owner, mode, time, links, holes and removals, and leaves out pipes", async () => {
    await sandbox.sh(`mkdir -m 700 closed; echo x > closed/x; chmod 0 closed/x; touch -d @1234567890 closed; mkfifo pipe
      ln -s /nowhere dangling; truncate -s 50M sparse; printf end >> sparse; rm gone; rm -r dir; mkdir dir`);
    const bytes = await copy(sandbox, "whole");
    expect(bytes).toBeLessThan(100_000);
    const at = (path: string) => lstatSync(join(layer("whole"), path));
    const agent = idMap.toHost(AGENT.uid, AGENT.gid);
    for (const path of ["", "closed", "closed/x", "dangling", "sparse"])
      expect([path, at(path).uid, at(path).gid]).toEqual([path, agent.uid, agent.gid]);
    expect([at("").mode & 0o7777, at("closed").mode & 0o7777, at("closed/x").mode & 0o7777]).toEqual([0o755, 0o700, 0]);
    expect(at("closed").mtimeMs).toBe(1_234_567_890_000);
    expect(readFileSync(join(layer("whole"), "closed/x"), "utf8")).toBe("x\n");
    expect(readlinkSync(join(layer("whole"), "dangling"))).toBe("/nowhere");
    expect([at("sparse").size, at("sparse").blocks < 1000]).toEqual([50 * 1024 * 1024 + 3, true]);
    expect(at("gone").isCharacterDevice()).toBe(true);
    expect(existsSync(join(layer("whole"), "pipe"))).toBe(false);
    const over = await walls.start([layer("whole")]);
    expect(await over.sh("ls -A . dir")).toBe(".:\nclosed\ndangling\ndir\nfile\nsparse\n\ndir:\n");
    await over.wall.stop();
  });

  it("holds nothing from outside, whatever is swapped while it is made", async () => {
    const outside = join(walls.home, "outside");
    mkdirSync(join(outside, "folder"), { recursive: true });
    for (const name of ["secret", "folder/secret"])
      writeFileSync(join(outside, name), "SECRET of the user", { mode: 0o644 });
    // open to everybody, so that not following links is all that keeps it
    execFileSync("chmod", ["-R", "a+rX", walls.home]);
    await sandbox.sh(
      `echo plain > f; mkdir d; echo plain > d/secret; ln -s ${outside}/secret fl; ln -s ${outside}/folder dl; ln -s f l`,
    );
    // renameat2 with RENAME_EXCHANGE: the quickest swap there is
    const swap = `my ($f, $fl, $d, $dl) = ("f", "fl", "d", "dl");
      for (;;) { syscall(316, -100, $f, -100, $fl, 2) + syscall(316, -100, $d, -100, $dl, 2) == 0 or die $!; }`;
    const process = sandbox.client.spawn({
      argv: ["perl", "-e", swap],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/workspace",
      user: AGENT,
    });
    process.discardOutput();
    for (let turn = 0; turn < 100; turn++) {
      await copy(sandbox, `swap-${turn}`);
      const found = execFileSync("sh", ["-c", `grep -rI SECRET ${layer(`swap-${turn}`)} || :`], { encoding: "utf8" });
      expect(found).toBe("");
    }
    process.signal(9, "tree");
    expect(await process.exit).toMatchObject({ kind: "signalled", code: 9 });
    expect(leftovers()).toEqual([]);
    chmodSync(walls.home, 0o700); // what others can enter is no place to remove a sandbox's files from
  });

  it("G-01 is made with the rights of the sandbox: what it could not read is not in it", async () => {
    const planted = join(sandbox.directory, "workspace/upper/planted");
    writeFileSync(planted, "SECRET of the user", { mode: 0o600 }); // the user's own, however it came there
    try {
      await expect(copy(sandbox, "planted")).rejects.toThrow(/planted/);
    } finally {
      rmSync(planted);
    }
    expect(existsSync(layer("planted"))).toBe(false);
    expect(leftovers()).toEqual([]);
  });

  it("is not there when it was cancelled or the disk is full", async () => {
    await sandbox.sh("head -c 8000000 /dev/urandom > large");
    await expect(copy(sandbox, "cancelled", AbortSignal.abort())).rejects.toMatchObject({ code: "CANCELLED" });
    const full = join(walls.home, "full");
    mkdirSync(full);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", full]);
    try {
      const target = join(full, "layer");
      const copying = walls.backend.copyLayer(sandbox.directory, target, undefined);
      await expect(copying).rejects.toMatchObject({ code: "DISK_FULL" });
      expect(readdirSync(full)).toEqual([]);
    } finally {
      execFileSync("umount", [full]);
    }
    expect(existsSync(layer("cancelled"))).toBe(false);
    expect(leftovers()).toEqual([]);
  });
});
