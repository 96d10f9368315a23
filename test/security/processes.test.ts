import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { SHARING_WALLS, describeWalls } from "../helpers/sandbox.ts";

describeWalls("G-04 processes of the host", "g04", (box) => {
  it("G-04 host processes cannot be seen or signalled", async () => {
    const victim = spawn("sleep", ["86399.5"], { stdio: "ignore" });
    try {
      const { stdout } = await box.sh("for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done");
      expect(stdout).toMatch(/guest/);
      expect(stdout).not.toContain("86399.5");
      await box.sh(`kill -9 ${String(victim.pid)}; kill -9 -1`);
      expect(victim.exitCode ?? victim.signalCode).toBeNull();
    } finally {
      victim.kill("SIGKILL");
    }
  });

  it("G-04 the sandbox's first process is the guest program, in a pid namespace of its own", async () => {
    const { stdout } = await box.sh("cat /proc/1/comm; ls /proc | grep -c '^[0-9]'");
    const [comm, count] = stdout.split("\n");
    expect(comm).toBe("cloche-guest");
    expect(Number(count)).toBeLessThan(12);
  });

  it("G-04 semaphores and shared memory of the host are not there", async () => {
    const made = execFileSync("ipcmk", ["--shmem", "4096", "--mode", "0666"], { encoding: "utf8" });
    const id = /\d+/.exec(made)?.[0] ?? "";
    try {
      expect(readFileSync("/proc/sysvipc/shm", "utf8")).toContain(` ${id} `);
      const { stdout } = await box.sh(
        "tail -n +2 /proc/sysvipc/shm; tail -n +2 /proc/sysvipc/sem; tail -n +2 /proc/sysvipc/msg",
      );
      expect(stdout).toBe("");
    } finally {
      execFileSync("ipcrm", ["--shmem-id", id]);
    }
  });
});

// A machine has no cgroups at all.
describeWalls(
  "G-04 cgroups of the host",
  "g04c",
  (box) => {
    it("G-04 the cgroups of the host are not told: a process sees itself at their root, or where commands are below it", async () => {
      const { stdout } = await box.sh("cut -d: -f3- /proc/self/cgroup /proc/1/cgroup | sort -u");
      expect(stdout).toMatch(/^\/\n(\/commands\n)?$/);
    });
  },
  SHARING_WALLS,
);
