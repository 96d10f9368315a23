import { expect, it } from "vitest";
import { eventually } from "../helpers/installation.ts";
import { describeWalls } from "../helpers/sandbox.ts";

/** Fills all memory with segments that stay when it has ended, as a process that is small and says that it is no better a victim than the guest program. */
const FILLER = `open(my $adj, ">", "/proc/self/oom_score_adj"); syswrite($adj, "0"); close $adj;
  my $block = "x" x 65536;
  while (defined(my $id = shmget(0, 1 << 26, 01600))) {
    for (my $at = 0; $at < 1 << 26; $at += 65536) { shmwrite($id, $block, $at, 65536) or exit 1 }
  }`;
/** Takes what is left of it in ever smaller pieces, as processes that are about as small as the guest program. */
const NIBBLER = "echo 0 > /proc/self/oom_score_adj; while :; do cat /dev/zero >> /dev/shm/more; done";

describeWalls("G-08 the guest program", "g08", (box) => {
  it("G-08 cannot be traced, read or signalled by a command", async () => {
    const { stdout } = await box.perl(`
      print "traced\\n" if syscall(101, 16, 1, 0, 0) == 0;              # PTRACE_ATTACH
      print "seized\\n" if syscall(101, 0x4206, 1, 0, 0) == 0;          # PTRACE_SEIZE
      print "memory\\n" if open(my $m, "<", "/proc/1/mem");
      print "environ\\n" if open(my $e, "<", "/proc/1/environ") && read($e, my $b, 1);
      print "fds\\n" if opendir(my $d, "/proc/1/fd");
      kill(9, 1); kill(15, 1); kill(19, 1);
      print "done\\n";`);
    expect(stdout).toBe("done\n");
    expect((await box.sh("echo alive")).stdout).toBe("alive\n");
  });

  it("G-08 cannot be starved by a flood of output that nobody reads, nor by many of them", async () => {
    const abort = new AbortController();
    const floods = Array.from({ length: 4 }, () =>
      box.at.sdk.streamWorkspace(box.id, { command: "yes", signal: abort.signal }),
    );
    const readers = floods.map(async (flood) => {
      for await (const event of flood)
        if (event.type === "stdout")
          await new Promise((done) => abort.signal.addEventListener("abort", done, { once: true }));
    });
    for (let n = 0; n < 5; n++) expect((await box.sh(`echo ${n}`)).stdout).toBe(`${n}\n`);
    abort.abort();
    await Promise.allSettled(readers);
  });

  it("G-08 goes before every command when the processor is short, and no command can change that", async () => {
    const { stdout } = await box.sh("cut -d' ' -f19 /proc/1/stat; nice; nice -n -10 nice 2>/dev/null");
    expect(stdout).toBe("0\n15\n15\n");
  });

  it("G-06 G-08 keeps the few capabilities that it needs, and what stands between it and a command keeps none", async () => {
    const { stdout } = await box.sh("grep -h ^Cap /proc/1/status; echo; grep -h ^Cap /proc/$PPID/status");
    const [own, shim] = stdout.split("\n\n").map((part) => part.replaceAll(/\t0*/g, " ").trim().split("\n"));
    // chown dac_override fowner kill setgid setuid setpcap net_bind_service
    expect(own).toEqual(["CapInh: ", "CapPrm: 5eb", "CapEff: 5eb", "CapBnd: 5eb", "CapAmb:"]);
    expect(shim?.filter((line) => /^Cap(Inh|Prm|Eff|Amb)/.test(line)).map((line) => line.trim())).toEqual([
      "CapInh:",
      "CapPrm:",
      "CapEff:",
      "CapAmb:",
    ]);
  });

  it("G-08 survives a fork bomb, which is bounded, and the sandbox goes on", async () => {
    const bombing = box.sh("perl -e 'while (1) { fork() }' 2>/dev/null", { timeout_seconds: 2 });
    // Thousands of them take a while to go. On an emulated machine, beside others, that can be longer than a call waits.
    const bomb = await bombing.catch((error: unknown) => {
      if (box.wall.backend !== "vm" || (error as { code?: string }).code !== "SANDBOX_LOST") throw error;
      return { timed_out: true, exit_code: null };
    });
    expect(bomb.timed_out || bomb.exit_code !== 0).toBe(true);
    await eventually(async () =>
      expect((await box.sh("echo alive; ls /proc | grep -c '^[0-9]'")).stdout).toMatch(/^alive\n\d{1,2}\n$/),
    );
  });

  it("G-08 outlives every command that fills the memory, in whatever way", async () => {
    const { sdk } = box.at;
    const { workspace_id: id } = await sdk.createWorkspace({ ...box.wall, mem_mib: 512, vcpu_count: 1 });
    // Their logs are in the guest program's memory, which makes it the larger victim.
    for (const name of ["one", "two", "three", "four"])
      await sdk.startService(id, name, { command: "head -c 2M /dev/zero; head -c 2M /dev/zero >&2; exec sleep 600" });
    const eater = ["perl", "-e", 'my @a; while (1) { push @a, "x" x 1048576 }'];
    expect((await sdk.execWorkspace(id, { command: eater, timeout_seconds: 20 })).exit_code).not.toBe(0);
    // What it has written stays: the next ones find no room at all.
    for (let times = 0; times < 3; times++)
      await sdk.execWorkspace(id, { command: ["perl", "-e", FILLER], timeout_seconds: 8 });
    for (let times = 0; times < 6; times++) await sdk.execWorkspace(id, { command: NIBBLER, timeout_seconds: 2 });
    await sdk.writeWorkspaceFile(id, "after", { text: "written" });
    expect((await sdk.readWorkspaceFile(id, "after")).content).toBe("written");
    expect((await sdk.statusWorkspace(id)).state).toBe("started");
    await sdk.deleteWorkspace(id);
    // An emulated machine that is full stands nearly still until a time-out.
  }, 300_000);

  it("G-08 ends what double-forked away when its command times out", async () => {
    const late = await box.sh("(setsid sh -c 'trap \"\" TERM HUP; sleep 77.5 & sleep 77.5' &) ; sleep 60", {
      timeout_seconds: 1,
    });
    expect(late.timed_out).toBe(true);
    expect((await box.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 77[.]5'")).stdout.trim()).toBe("0");
  });

  it("G-08 reaps orphans", async () => {
    await box.sh("for i in 1 2 3 4 5; do (sh -c 'sleep 0.05 & exit' &); done; sleep 0.3");
    // One that has just ended is seen for a moment.
    await eventually(async () =>
      expect((await box.sh("cat /proc/[0-9]*/stat | awk '{print $3}' | grep -c Z")).stdout.trim()).toBe("0"),
    );
  });
});
