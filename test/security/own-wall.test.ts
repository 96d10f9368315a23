import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ContainerRecord } from "../../src/backends/container/container-wall.ts";
import { LayeredWalls } from "../guest/layered-walls.ts";

let walls: LayeredWalls;
beforeAll(() => {
  walls = new LayeredWalls(() => undefined);
});
afterAll(() => walls[Symbol.asyncDispose]());

/** The options of a mount of the sandbox. */
const optionsOf = (mounts: string, place: string) =>
  mounts.split("\n").flatMap((line) => (line.split(" ")[4] === place ? [line.split(" ")[5]?.split(",")] : []));

describe("the wall that the launcher makes", () => {
  it("G-05 G-07 mounts the kernel's settings and the guest program read-only", async () => {
    const mounts = await (await walls.start([])).sh("cat /proc/self/mountinfo");
    for (const place of ["/proc/sys", "/.cloche/guest"])
      expect(optionsOf(mounts, place)).toEqual([expect.arrayContaining(["ro", "nosuid", "nodev"])]);
  });

  it("G-01 tells nothing of the host's cgroups, and has no place of the host in its mount table", async () => {
    const { sh, directory } = await walls.start([]);
    const seen = await sh("cat /proc/self/cgroup /proc/self/mountinfo");
    expect(seen).not.toContain("cloche-");
    expect(seen).not.toContain(directory);
    expect(seen.split("\n").filter((line) => /^\d+:/.test(line) && line.includes("/layers-"))).toEqual([]);
  });

  it("G-04 has processes, IPC and a host name of its own", async () => {
    const { sh } = await walls.start([]);
    expect(await sh("cat /proc/1/comm; cat /proc/sys/kernel/hostname")).toBe("cloche-guest\nt\n");
    const own = await sh("for name in pid ipc uts cgroup mnt net user; do readlink /proc/self/ns/$name; done");
    for (const namespace of own.trim().split("\n")) {
      const [name = ""] = namespace.split(":");
      expect(namespace).not.toBe(readlinkSync(`/proc/self/ns/${name}`));
    }
  });
});

describe("the process that waits for a sandbox", () => {
  it("G-04 has no capability, nothing open but the log, and nothing of the daemon's environment", async () => {
    const { directory, wall } = await walls.start([]);
    const at = (name: string) => `/proc/${(wall.record as ContainerRecord).pid}/${name}`;
    const status = readFileSync(at("status"), "utf8");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) expect(status).toContain(`${set}:\t0000000000000000\n`);
    expect(status).toContain("NoNewPrivs:\t1\n");
    const log = join(directory, "wall.log");
    const open = readdirSync(at("fd")).map((fd) => `${fd} ${readlinkSync(at(`fd/${fd}`))}`);
    expect(open.sort()).toEqual([`0 /dev/null`, `1 ${log}`, `2 ${log}`]);
    expect(readFileSync(at("environ"), "utf8")).toBe("");
    expect(readFileSync(at("cmdline"), "utf8")).toBe("cloche-wall\0wall-watch\0--hostname\0t\0");
  });
});
