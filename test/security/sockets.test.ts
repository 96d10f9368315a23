import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connectGuest } from "../../src/guest/connect-guest.ts";
import { eventually, withInstallation } from "../helpers/installation.ts";
import { sandboxFolder } from "../helpers/running-daemon.ts";
import { describeWalls, useSandbox } from "../helpers/sandbox.ts";

describeWalls("G-02 sockets of the host", "g02", (box) => {
  it("G-02 no socket is in the sandbox: not the daemon's, not Docker's, not the guest's", async () => {
    const { stdout } = await box.sh(
      "find / -xdev -type s 2>/dev/null; find /run /tmp /workspace /.cloche /var -type s 2>/dev/null; ls /var/run/docker.sock /run/docker.sock 2>/dev/null",
    );
    expect(stdout).toBe("");
    expect(
      (await box.sh("cat /proc/net/unix | tail -n +2 | grep -v '@' | awk '$8 != \"\" {print $8}'")).stdout,
    ).not.toContain(box.at.root);
  });

  it("G-02 an abstract socket of the host is not reachable", async () => {
    const name = `cloche-test-${process.pid}`;
    const server = createServer((socket) => socket.end("reached"));
    await new Promise<void>((done) => server.listen(`\0${name}`, done));
    try {
      const { stdout, exit_code } = await box.perl(
        `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un("\\0${name}")) or die "no: $!"; print <S>;`,
      );
      expect(exit_code).not.toBe(0);
      expect(stdout).not.toContain("reached");
    } finally {
      server.close();
    }
  });
});

describe("G-02 G-14 sockets and files of cloche", () => {
  const box = useSandbox("g14");

  it("G-02 a link in the place of a guest's socket leads the daemon nowhere", async () => {
    const folder = box.at.path("sockets");
    mkdirSync(folder);
    const target = join(folder, "other.sock");
    let connections = 0;
    const server = createServer(() => connections++);
    await new Promise<void>((done) => server.listen(target, done));
    try {
      symlinkSync(target, join(folder, "guest.sock"));
      await expect(connectGuest(join(folder, "guest.sock"), undefined)).rejects.toThrow();
      expect(connections).toBe(0);
      renameSync(target, join(folder, "direct.sock"));
      const direct = connectGuest(join(folder, "direct.sock"), AbortSignal.timeout(200));
      await expect(direct).rejects.toThrow();
      await eventually(() => expect(connections, "the same call without a link does connect").toBe(1));
    } finally {
      server.close();
    }
  });

  it("G-14 the home, the socket, the store and the logs are the user's alone", () => {
    expect(statSync(box.at.home).mode & 0o077).toBe(0);
    for (const name of readdirSync(box.at.home)) expect(statSync(join(box.at.home, name)).mode & 0o077, name).toBe(0);
    const own = sandboxFolder(box.at.home, box.id);
    expect(statSync(own).mode & 0o077).toBe(0);
    expect(statSync(join(own, "guest.sock")).mode & 0o177).toBe(0);
  });

  it("G-14 a home that others could look into is closed before anything is in it", async () => {
    await withInstallation(async (at) => {
      chmodSync(at.home, 0o755);
      await at.sdk.listWorkspaces();
      expect(statSync(at.home).mode & 0o777).toBe(0o700);
    });
  });
});
