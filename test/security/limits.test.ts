import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, withInstallation } from "../helpers/installation.ts";
import { useSandbox } from "../helpers/sandbox.ts";

/** Takes every connection and lets none go. */
const HOLDER = `use IO::Socket::INET;
  my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 8080, Listen => 400) or die $!;
  my @held; while (my $c = $s->accept) { push @held, $c }`;

describe("G-15 limits", () => {
  const box = useSandbox("g15");

  it("G-15 doctor says which limits hold, and in CI memory, pids and cpu do", async () => {
    const [container] = (await box.at.sdk.doctor()).backends;
    const holds = Object.fromEntries((container?.limits ?? []).map((one) => [one.name, one.holds]));
    expect(holds).toMatchObject({ memory: true, pids: true, cpu: true, disk: false });
  });

  it("G-15 a command that eats memory is ended, and the sandbox goes on", async () => {
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host", mem_mib: 128 });
    const eater = await box.at.sdk.execWorkspace(id, {
      command: ["perl", "-e", 'my @a; while (1) { push @a, "x" x 1048576; } '],
      timeout_seconds: 60,
    });
    expect(eater.exit_code).not.toBe(0);
    expect(eater.timed_out).toBe(false);
    expect((await box.at.sdk.execWorkspace(id, { command: "echo alive" })).stdout).toBe("alive\n");
    await box.at.sdk.deleteWorkspace(id);
  });

  it("G-15 a memory-backed folder counts as memory and is bounded", async () => {
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host", mem_mib: 128 });
    for (const folder of ["/tmp", "/dev/shm"]) {
      const full = await box.at.sdk.execWorkspace(id, {
        command: `head -c 512M /dev/zero > ${folder}/big; echo $?; rm -f ${folder}/big`,
        timeout_seconds: 60,
      });
      expect(full.stdout, folder).not.toBe("0\n");
    }
    expect((await box.at.sdk.execWorkspace(id, { command: "echo alive" })).stdout).toBe("alive\n");
    await box.at.sdk.deleteWorkspace(id);
  });

  it("G-15 a workspace has no more cpu than it was given", async () => {
    await using one = await box.at.sdk.workspace({ environment: "host", vcpu_count: 1 });
    const [used, wall] = (
      await one.exec(
        "for i in 1 2; do (timeout 1 sh -c 'while :; do :; done') & done; wait; cat /proc/self/stat > /dev/null; times | tail -1",
        { timeout_seconds: 30 },
      )
    ).stdout
      .trim()
      .split(" ")
      .map((text) => Number(/m([\d.]+)s/.exec(text)?.[1] ?? 0));
    expect(
      (used ?? 9) + (wall ?? 9),
      "user and system seconds of two busy loops of one second, with one cpu",
    ).toBeLessThan(1.6);
  });

  it("G-15 a command, a shell and a service cannot have more processes than the workspace, also where no cgroup counts them", async () => {
    await withInstallation(async (at) => {
      const { sdk } = at;
      writeFileSync(join(at.home, "config.yaml"), "limits:\n  pids: 77\n");
      const { workspace_id: id } = await sdk.createWorkspace({ environment: "host" });
      const ask = "echo $(ulimit -Su) $(ulimit -Hu).";
      expect((await sdk.execWorkspace(id, { command: ["bash", "-c", ask] })).stdout).toBe("77 77.\n");
      const { shell_id: shell } = await sdk.openShell(id);
      await sdk.writeShell(id, shell, { input: ask });
      await eventually(async () =>
        expect((await sdk.readShell(id, shell, { plain: true })).output).toContain("77 77."),
      );
      await sdk.startService(id, "ask", { command: ["bash", "-c", `${ask}; exec sleep 60`] });
      await eventually(async () => expect((await sdk.logsService(id, "ask")).stdout).toBe("77 77.\n"));
    });
  });

  it("G-15 a gibibyte of output is bounded in the answer, the journal and the daemon's memory", async () => {
    const { pid } = await box.at.sdk.daemonStatus();
    const result = await box.sh("head -c 1G /dev/zero | tr '\\0' x; echo end >&2", { timeout_seconds: 120 });
    expect(result.exit_code).toBe(0);
    expect(result.stdout_truncated).toBe(true);
    expect(result.stderr).toBe("end\n");
    expect(result.stdout.length).toBeLessThan(1.1 * 1024 * 1024);
    expect(result.stdout).toMatch(/bytes left out/);
    const [entry] = (await box.at.sdk.logsWorkspace(box.id)).entries.slice(-1);
    expect(entry?.stdout.length).toBeLessThan(70_000);
    const rss = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1]);
    expect(rss / 1024).toBeLessThan(400);
  });

  it("G-15 a published port takes a bounded number of connections", async () => {
    const { sdk } = box.at;
    const { workspace_id: id } = await sdk.createWorkspace({
      environment: "host",
      network_policy: "published-ports",
    });
    const service = await sdk.startService(id, "holder", {
      command: ["perl", "-e", HOLDER],
      readiness: { type: "tcp", port: 8080 },
      published_ports: [{ guest_port: 8080 }],
    });
    const port = service.published_ports[0]?.host_port ?? 0;
    const sockets = Array.from({ length: 300 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    try {
      await eventually(() => {
        expect(sockets.filter((socket) => socket.connecting)).toEqual([]);
        expect(sockets.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(256);
      });
      expect(sockets.filter((socket) => !socket.destroyed).length).toBeGreaterThan(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await sdk.deleteWorkspace(id);
  });

  it("G-15 a command that ignores TERM, keeps its pipes open and forks away is ended by its time-out", async () => {
    const stubborn = await box.sh(
      "trap '' TERM INT HUP; echo early; (setsid sleep 300 &) ; while :; do sleep 1; done",
      { timeout_seconds: 3 }, // time enough to begin, on a machine that is busy
    );
    expect(stubborn).toMatchObject({ timed_out: true, stdout: "early\n" });
    expect(stubborn.exit_code).not.toBe(0);
    expect(readFileSync(join(box.at.home, "daemon.log"), "utf8")).not.toContain('"level":"error"');
  });
});
