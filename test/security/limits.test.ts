import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useSandbox } from "../helpers/sandbox.ts";

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
    const [used, wall] = (
      await box.sh(
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

  it("G-15 a command that ignores TERM, keeps its pipes open and forks away is ended by its time-out", async () => {
    const began = Date.now();
    const stubborn = await box.sh(
      "trap '' TERM INT HUP; echo early; (setsid sleep 300 &) ; while :; do sleep 1; done",
      { timeout_seconds: 1 },
    );
    expect(stubborn).toMatchObject({ timed_out: true, stdout: "early\n" });
    expect(stubborn.exit_code).not.toBe(0);
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(readFileSync(join(box.at.home, "daemon.log"), "utf8")).not.toContain('"level":"error"');
  });
});
