import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expectRightClock } from "../right-clock.ts";
import { scenarios } from "../scenario.ts";

const CANARY = "parity-canary-of-the-host";

export const ISOLATION_SCENARIOS = scenarios("isolation", {
  "there is a loopback interface, and no other network": async (at) => {
    const id = await at.shared();
    const devices = (await at.out(id, "cat /proc/net/dev"))
      .split("\n")
      .slice(2)
      .map((line) => line.split(":")[0]?.trim())
      .filter(Boolean);
    assert.deepEqual(devices, ["lo"]);
    assert.equal(await at.out(id, "tail -n +2 /proc/net/route"), "");
    const outside = await at.client.execWorkspace(id, {
      command: [
        "perl",
        "-MIO::Socket::INET",
        "-e",
        'IO::Socket::INET->new(PeerAddr => "192.0.2.1:80", Timeout => 5) and print "reached"; print $@',
      ],
      timeout_seconds: 20,
    });
    assert.match(outside.stdout, /unreachable|no route/i);
    assert.notEqual((await at.sh(id, "getent hosts example.com", { timeout_seconds: 20 })).exit_code, 0);
  },
  "a listener of the host is not reached": async (at) => {
    const id = await at.shared();
    const server = createServer((socket) => socket.end("reached\n")).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      const program = `my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:${port}", Timeout => 5); print $s ? <$s> : "refused"`;
      const result = await at.client.execWorkspace(id, { command: ["perl", "-MIO::Socket::INET", "-e", program] });
      assert.equal(result.stdout, "refused");
    } finally {
      server.close();
    }
  },
  "a file of the host is not there, and no process of it": async (at) => {
    const id = await at.shared();
    const path = join(at.target.folder, CANARY);
    await writeFile(path, CANARY);
    assert.notEqual((await at.sh(id, `cat ${path}`)).exit_code, 0);
    assert.equal(
      await at.out(id, `find / -xdev -name ${CANARY} 2>/dev/null | head -n 3`, { timeout_seconds: 120 }),
      "",
    );
    for (const folder of [at.client.home, "/root/.ssh", "/run/docker.sock", "/var/run/docker.sock"])
      assert.notEqual((await at.sh(id, `ls -A ${folder} | grep .`)).exit_code, 0, folder);
    const processes = (await at.out(id, "cat /proc/[0-9]*/comm 2>/dev/null | sort -u | tr '\\n' ' '"))
      .trim()
      .split(" ");
    assert.ok(
      !processes.some((name) => ["node", "systemd", "dockerd", "containerd"].includes(name)),
      processes.join(" "),
    );
    assert.equal(
      await at.out(id, "cat /proc/mounts /proc/self/mountinfo | grep -c " + at.client.home + " || true"),
      "0\n",
    );
  },
  "no variable of the host is there": async (at) => {
    const id = await at.shared();
    const names = (await at.out(id, "env")).split("\n").map((line) => line.split("=")[0]);
    assert.deepEqual(
      names.filter((name) => name?.startsWith("CLOCHE") || name === "SSH_AUTH_SOCK" || name === "DOCKER_HOST"),
      [],
    );
  },
  "a command has no capability, and gets none": async (at) => {
    const id = await at.shared();
    const status = await at.out(id, "grep -E '^(Cap|Seccomp:)' /proc/self/status");
    const [, filter = ""] = /^Seccomp:\s*(\d+)$/m.exec(status) ?? [];
    assert.equal(filter, "2", "a filter for system calls");
    const sets = status.split("\n").filter((line) => line.startsWith("Cap"));
    assert.deepEqual(
      sets.filter((line) => !/:\s*0{16}$/.test(line)),
      [],
    );
    assert.ok(sets.length >= 4, "the kernel tells the capabilities"); // not all of them tell the ambient ones
    const program = "print syscall(157, 39, 0, 0, 0, 0)"; // prctl(PR_GET_NO_NEW_PRIVS)
    const bare = await at.client.execWorkspace(id, { command: ["perl", "-e", program] });
    assert.equal(bare.stdout, "1", "no_new_privs");
    for (const command of [
      "mount -t tmpfs none /mnt",
      "mknod /tmp/null c 1 3",
      "chown root /workspace/README.md",
      "unshare --user true",
    ])
      assert.notEqual((await at.sh(id, command)).exit_code, 0, command);
  },
  "the guest program cannot be ended": async (at) => {
    const id = await at.shared();
    // Where there is one user for all, the kernel takes the signals, and drops them.
    await at.sh(id, "kill -TERM 1; kill -STOP 1; kill -KILL 1");
    assert.equal(await at.out(id, "echo alive"), "alive\n");
  },
  "the system's own files cannot be changed, or for the one sandbox alone, as it is declared": async (at) => {
    const [one, two] = [await at.create(), await at.create()];
    const look = "cat /etc/passwd; ls -d /bin/cat /usr/x 2>/dev/null || true";
    const before = await at.out(two, look);
    for (const command of ["echo x > /etc/passwd", "rm -f /bin/cat", "touch /usr/x"]) {
      const { exit_code } = await at.sh(one, command);
      assert.equal(exit_code !== 0, at.health.capabilities.guarded_system, command);
    }
    assert.equal(await at.out(two, look), before);
    await at.client.resetWorkspace(one);
    assert.equal(await at.out(one, look), before);
  },
  "one workspace sees nothing of another": async (at) => {
    const [one, two] = [await at.create(), await at.create()];
    await at.out(one, "echo mine > mine; echo mine > /tmp/mine");
    assert.notEqual((await at.sh(two, "cat mine /tmp/mine")).exit_code, 0);
    assert.notEqual(await at.out(one, "cat /etc/machine-id"), await at.out(two, "cat /etc/machine-id"));
    const random = "head -c 16 /dev/urandom | od -An -tx1";
    assert.notEqual(await at.out(one, random), await at.out(two, random));
  },
  "the clock is right": async (at) => {
    await expectRightClock(at, await at.create());
  },
});
