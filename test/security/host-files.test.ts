import { randomBytes } from "node:crypto";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { networkSettings } from "../../src/policy/offline-settings.ts";
import { SHARING_WALLS, describeWalls } from "../helpers/sandbox.ts";

describeWalls("G-01 files of the host", "g01", (box) => {
  it("G-01 the user's home, the cloche home and other readable folders are not there", async () => {
    const canary = randomBytes(8).toString("hex");
    const inHome = join(homedir(), `.cloche-canary-${process.pid}`);
    const readable = box.at.path("readable.txt");
    writeFileSync(inHome, canary, { mode: 0o644 });
    chmodSync(box.at.root, 0o755); // only the wall keeps it out now
    writeFileSync(readable, canary, { mode: 0o644 });
    try {
      for (const path of [
        inHome,
        readable,
        `/proc/1/root${inHome}`,
        `/proc/1/cwd${inHome}`,
        `/proc/self/root${inHome}`,
      ]) {
        const { exit_code, stdout } = await box.sh(`cat '${path}'`);
        expect(exit_code, path).not.toBe(0);
        expect(stdout).not.toContain(canary);
      }
      const search = await box.sh(
        `grep -rl ${canary} / --exclude-dir=proc --exclude-dir=usr --exclude-dir=opt 2>/dev/null`,
      );
      expect(search.stdout).toBe("");
    } finally {
      rmSync(inHome);
    }
  });

  it("G-01 nothing of another workspace is visible", async () => {
    const other = await box.create();
    const canary = randomBytes(8).toString("hex");
    await box.at.sdk.execWorkspace(other, {
      command: `echo ${canary} | tee /workspace/a /tmp/a /home/agent/a /dev/shm/a > /dev/null`,
    });
    const search = await box.sh(
      `grep -rl ${canary} /workspace /tmp /home /dev/shm /run /var /root 2>/dev/null; ls /workspace`,
    );
    expect(search.stdout).toBe("");
    await box.at.sdk.deleteWorkspace(other);
  });

  it("G-01 mount tables and the command line of the guest program name nothing of the host", async () => {
    const { stdout } = await box.sh(
      "cat /proc/self/mountinfo; for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done; env",
    );
    expect(stdout).toContain("/workspace");
    expect(stdout).not.toContain(box.at.root);
    expect(stdout).not.toContain("workspaces/");
  });

  it("G-01 the environment of a command has nothing of the daemon's", async () => {
    const { stdout } = await box.sh("env | cut -d= -f1 | sort");
    expect(stdout.split("\n").filter((name) => name && name !== "_")).toEqual(
      [
        ...["HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "USER"],
        ...Object.keys(networkSettings(false)),
      ].toSorted(),
    );
  });
});

// A machine has the /etc of its environment, which is not the host's.
describeWalls(
  "G-01 the host's /etc",
  "g01e",
  (box) => {
    it("G-01 secret files of the host's /etc are not there, and no password hash anywhere in it", async () => {
      expect((await box.sh("cat /etc/shadow")).exit_code).not.toBe(0);
      expect(
        (await box.sh("ls /etc/shadow /etc/gshadow /etc/ssl/private /etc/ssh/ssh_host_* /etc/sudoers 2>/dev/null"))
          .stdout,
      ).toBe("");
      expect((await box.sh("grep -rlE '^root:[$!*]' /etc 2>/dev/null")).stdout).toBe("");
    });
  },
  SHARING_WALLS,
);
