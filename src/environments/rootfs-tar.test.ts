import { unpackRootfs } from "./rootfs-tar.ts";
import { walkTree } from "../base/walk-tree.ts";
import { currentIdMap, SHIFT_BASE } from "../base/id-map.ts";
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const isRoot = process.getuid?.() === 0;
const env = { PATH: process.env["PATH"] };
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cloche-tar-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function unpack(script: string, tarOptions: readonly string[] = []): Promise<string> {
  const tree = join(folder, "tree");
  const rootfs = join(folder, "rootfs");
  const tar = join(folder, "rootfs.tar");
  mkdirSync(tree);
  mkdirSync(rootfs);
  execFileSync("sh", ["-ec", script], { cwd: tree });
  execFileSync("tar", [...tarOptions, "-cf", tar, "-C", tree, "."]);
  await unpackRootfs(
    tar,
    { rootfs, scratch: folder, idMap: currentIdMap(), progress: () => undefined, signal: undefined },
    env,
  );
  return rootfs;
}

describe("unpackRootfs()", () => {
  it("G-06: takes setuid and setgid away and leaves the other bits", async () => {
    const rootfs = await unpack(
      "echo >su; chmod 4755 su; echo >wall; chmod 2711 wall; mkdir mail; chmod 2775 mail; mkdir t; chmod 1777 t",
    );
    const modes = ["su", "wall", "mail", "t"].map((name) => (lstatSync(join(rootfs, name)).mode & 0o7777).toString(8));
    expect(modes).toEqual(["755", "711", "775", "1777"]);
  });

  it("leaves out pipes and whatever is in /dev", async () => {
    const rootfs = await unpack("mkfifo pipe; mkdir dev; echo >dev/file");
    expect(existsSync(join(rootfs, "pipe"))).toBe(false);
    expect(existsSync(join(rootfs, "dev/file"))).toBe(false);
    expect(existsSync(join(rootfs, "dev"))).toBe(true);
  });

  it.skipIf(!isRoot)(
    "leaves out devices, wherever an image has them, and takes its other files (devices need root)",
    async () => {
      // As `docker export` writes names.
      const bare = ["--transform=s,^\\./,,"];
      const script =
        "mkdir dev opt opt/dev; echo >opt/dev/kept; for at in dev opt opt/dev; do mknod $at/null c 1 3; done";
      const rootfs = await unpack(`${script}; mknod opt/disk b 7 0; echo >dev/file; echo >zz`, bare);
      const there = ["zz", "opt/dev/kept", "dev/file", "dev/null", "opt/null", "opt/dev/null", "opt/disk"];
      expect(there.filter((name) => existsSync(join(rootfs, name)))).toEqual(["zz", "opt/dev/kept"]);
    },
  );

  it.skipIf(!isRoot)(
    "shifts every owner exactly once, files with two names and large folders too (owners need root)",
    async () => {
      const rootfs = await unpack(
        'echo >one; chown 7:8 one; ln one two; ln -s one link; mkdir many; for i in $(seq 700); do : >"many/$i"; done',
      );
      const owner = (name: string) => [lstatSync(join(rootfs, name)).uid, lstatSync(join(rootfs, name)).gid];
      expect(owner("one")).toEqual([SHIFT_BASE + 7, SHIFT_BASE + 8]);
      expect(owner("two")).toEqual([SHIFT_BASE + 7, SHIFT_BASE + 8]);
      expect(owner("link")).toEqual([SHIFT_BASE, SHIFT_BASE]);
      let count = 0;
      for await (const { path, stats } of walkTree(rootfs)) {
        expect(stats.uid, path).toBeGreaterThanOrEqual(SHIFT_BASE);
        expect(stats.gid, path).toBeGreaterThanOrEqual(SHIFT_BASE);
        count += 1;
      }
      expect(count).toBeGreaterThan(700);
    },
  );

  it.skipIf(!isRoot)(
    "gives what belongs to an id that a sandbox does not have to its root (owners need root)",
    async () => {
      const rootfs = await unpack("echo >far; chown 70000:8 far; echo >near; chown 7:8 near; chmod 751 far");
      expect(lstatSync(join(rootfs, "far"))).toMatchObject({ uid: SHIFT_BASE, gid: SHIFT_BASE });
      expect(lstatSync(join(rootfs, "far")).mode & 0o7777).toBe(0o751);
      expect(lstatSync(join(rootfs, "near")).uid).toBe(SHIFT_BASE + 7);
    },
  );

  it.skipIf(!isRoot)(
    "G-24 no file is root's of the host at any moment, be it with a setuid bit (owners need root)",
    async () => {
      const seen: string[] = [];
      const watching = setInterval(() => {
        for (const name of ["su", "last"]) {
          const stats = lstatSync(join(folder, "rootfs", name), { throwIfNoEntry: false });
          if (stats && stats.uid < SHIFT_BASE) seen.push(`${name} of ${stats.uid}`);
        }
      }, 1);
      try {
        // Large, so that there are moments between.
        await unpack("head -c 60M /dev/zero >su; chmod 6755 su; head -c 60M /dev/zero >last");
      } finally {
        clearInterval(watching);
      }
      expect(seen).toEqual([]);
    },
  );

  it("keeps the distribution's accounts and adds agent, in place of who has that id", async () => {
    const rootfs = await unpack(
      "mkdir etc; printf 'root:x:0:0::/root:/bin/sh\\nfirst:x:1000:1000::/:/bin/sh\\nmail:x:8:8::/:/bin/sh\\n' >etc/passwd",
    );
    const lines = readFileSync(join(rootfs, "etc/passwd"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => line.split(":")[0])).toEqual(["root", "mail", "agent"]);
  });

  it("G-16: does not write through a link of the archive", async () => {
    mkdirSync(join(folder, "victim"));
    await expect(unpack("ln -s ../victim etc")).rejects.toMatchObject({ code: "ENVIRONMENT_BUILD_FAILED" });
    expect(existsSync(join(folder, "victim/hosts"))).toBe(false);
  });

  it("G-01: does not read through a link of the archive", async () => {
    writeFileSync(join(folder, "secret"), "root:canary:0:0:::\n");
    const rootfs = await unpack(`mkdir etc; for name in passwd group; do ln -s ${folder}/secret etc/$name; done`);
    for (const name of ["passwd", "group"]) {
      const text = readFileSync(join(rootfs, "etc", name), "utf8");
      expect(text).toContain("agent:x:1000:");
      expect(text).not.toContain("canary");
    }
  });

  it("G-21: leaves the place of the guest program empty, and what a link there points to alone", async () => {
    mkdirSync(join(folder, "victim"));
    const rootfs = await unpack("ln -s ../victim .cloche");
    expect(existsSync(join(rootfs, ".cloche"))).toBe(false);
    expect(existsSync(join(folder, "victim"))).toBe(true);
  });

  it("says that an archive is damaged", async () => {
    const rootfs = join(folder, "other");
    mkdirSync(rootfs);
    const context = { rootfs, scratch: folder, idMap: currentIdMap(), progress: () => undefined, signal: undefined };
    await expect(unpackRootfs("/etc/os-release", context, env)).rejects.toMatchObject({
      code: "ENVIRONMENT_BUILD_FAILED",
      message: expect.stringContaining("tar") as string,
    });
  });
});
