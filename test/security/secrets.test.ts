import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation } from "../helpers/installation.ts";
import { type Sandbox, describeWalls } from "../helpers/sandbox.ts";

const TOKEN = "tok-71d8ab4f9c2e-apart";
const MARK = "86753.09";

/** All ways of one process into another: prints the names of those that are open for the process whose command line has the mark. */
const INTRUDER = `
  my ($pid, $f, $b);
  for (glob "/proc/[0-9]*/cmdline") { open($f, "<", $_) or next; $pid = 0 + $1 if (<$f> // "") =~ /^sleep\\0${MARK}/ && m{(\\d+)} }
  print "victim\\n" if $pid;
  for my $file ("environ", "maps", "auxv", "mem", "task/$pid/environ") {
    open($f, "<", "/proc/$pid/$file") or next;
    print "$file\\n" if $file eq "mem" || sysread($f, $b, 1);
  }
  for my $fd (0 .. 2) { print "opened\\n" if open($f, $fd ? ">" : "<", "/proc/$pid/fd/$fd") }
  for my $link (qw(cwd root exe ns/user fd/0)) { print "$link\\n" if defined readlink("/proc/$pid/$link") }
  print "seized\\n" if syscall(101, 0x4206, $pid, 0, 0) == 0;   # PTRACE_SEIZE
  print "attached\\n" if syscall(101, 16, $pid, 0, 0) == 0;     # PTRACE_ATTACH
  $b = "\\0" x 8; my $local = pack("QQ", unpack("Q", pack("p", $b)), 8); my $remote = pack("QQ", 4096, 8);
  $! = 0; print "memory\\n" if syscall(310, $pid, $local, 1, $remote, 1, 0) >= 0 || $! == 14; # process_vm_readv: nothing is there, EFAULT
  my $handle = syscall(434, $pid, 0);                           # pidfd_open
  print "taken\\n" if $handle >= 0 && syscall(438, $handle, 0, 0) >= 0;          # pidfd_getfd
  print "entered\\n" if $handle >= 0 && syscall(308, $handle, 0x10000000) == 0; # setns
  print "compared\\n" if syscall(312, $$, $pid, 0, 0, 0) >= 0; # kcmp
  print "done\\n";`;
/** All of it works on a command that has no secrets, but for what an engine's own filter refuses: else it would prove nothing. */
const OPEN =
  /^victim\nenviron\nmaps\nauxv\nmem\ntask\/\d+\/environ\n(opened\n){1,3}cwd\nroot\nexe\nns\/user\nfd\/0\nseized\n(memory\ntaken\n)?(compared\n)?done\n$/;

interface Attacked {
  readonly at: Installation;
  readonly id: string;
}

function attacks(box: () => Attacked): void {
  const secret_env = { TOKEN: "T" };
  const run = async (command: string | string[], more = {}) =>
    await box().at.sdk.execWorkspace(box().id, { command, ...more });

  it("G-17 the secrets of a service are not to be read by another command, also not by one that has secrets too", async () => {
    const { sdk } = box().at;
    await sdk.startService(box().id, "holder", { command: ["sleep", MARK], secret_env });
    for (const more of [{}, { secret_env }])
      await eventually(async () => expect((await run(["perl", "-e", INTRUDER], more)).stdout).toBe("victim\ndone\n"));
    await sdk.stopService(box().id, "holder");
    await sdk.startService(box().id, "open", { command: ["sleep", MARK] });
    await eventually(async () => expect((await run(["perl", "-e", INTRUDER])).stdout).toMatch(OPEN));
    await sdk.stopService(box().id, "open");
  });

  it("G-17 a shell's secrets and those of what it runs are not to be read either", async () => {
    const { sdk } = box().at;
    const { shell_id: shell } = await sdk.openShell(box().id, { secret_env });
    await sdk.writeShell(box().id, shell, { input: `sleep ${MARK} & tty; ps -o tty= -p $$; echo "len \${#T}"` });
    await eventually(async () =>
      expect((await sdk.readShell(box().id, shell, { plain: true })).output).toMatch(
        new RegExp(`^/dev/(pts/\\d+)\\n(.*\\n)*\\1 *\\n(.*\\n)*len ${TOKEN.length}$`, "m"),
      ),
    );
    await eventually(async () => expect((await run(["perl", "-e", INTRUDER])).stdout).toBe("victim\ndone\n"));
    const { stdout } = await run(
      `cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '^T=' || true`,
    );
    expect(stdout).toBe("0\n");
    await sdk.closeShell(box().id, shell);
  });

  it("G-06 G-17 a command with secrets is walled off and has no right that others lack", async () => {
    const { stdout } = await run(
      "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)' /proc/self/status; id -u; touch made && stat -c %u:%g made; cat /proc/self/uid_map | wc -l",
      { secret_env },
    );
    const plain = await run(
      "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)' /proc/self/status; id -u; touch made && stat -c %u:%g made; cat /proc/self/uid_map | wc -l",
    );
    expect(stdout).toBe(plain.stdout);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(stdout, set).toMatch(new RegExp(`^${set}:\\t0+$`, "m"));
    expect(stdout).toContain("NoNewPrivs:\t1\nSeccomp:\t2\n1000\n1000:1000\n1\n");
    const refused = await run(
      [
        "perl",
        "-e",
        `for my $call ([272, 0x10000000], [272, 0x20000], [165, 0, 0, 0, 0, 0], [56, 0x10000011, 0, 0, 0, 0], [161, 0]) {
           $! = 0; print syscall($call->[0], map { $_ } @$call[1 .. $#$call]) == -1 ? "$!\\n" : "allowed\\n" }
         open(my $f, ">", "/proc/self/setgroups"); open(my $m, ">", "/proc/self/uid_map") and print "map\\n" if syswrite($m, "0 1000 1");
         print "$<\\n"; $< = $> = 0; print "$< $>\\n"`,
      ],
      { secret_env },
    );
    expect(refused.stdout).toBe(`${"Operation not permitted\n".repeat(5)}1000\n1000 1000\n`);
  });

  it("G-17 it ends, times out and is signalled as any other, with all that it left running", async () => {
    expect((await run("exit 7", { secret_env })).exit_code).toBe(7);
    expect((await run(["no-such-program"], { secret_env })).exit_code).toBe(127);
    expect((await run("kill -9 $$", { secret_env })).exit_code).toBe(137);
    const late = await run(`(setsid sh -c 'trap "" TERM HUP; sleep 91.5 & sleep 91.5' &); sleep 60`, {
      secret_env,
      timeout_seconds: 1,
    });
    expect(late.timed_out).toBe(true);
    expect((await run("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 91[.]5'")).stdout.trim()).toBe("0");
    // The user is the same: signals between commands are as they were.
    const { sdk } = box().at;
    await sdk.startService(box().id, "ends", { command: ["sleep", MARK], secret_env });
    await eventually(async () => {
      await run("kill $(grep -l '^sleep' /proc/[0-9]*/cmdline | cut -d/ -f3)");
      expect((await sdk.statusService(box().id, "ends")).state).not.toBe("running");
    });
  });

  it("G-17 no command plants a program of the system's name for a later one that gets secrets", async () => {
    await run(
      "mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho planted\\n' | tee ~/.local/bin/ls ~/.local/bin/own-tool; chmod 755 ~/.local/bin/*",
    );
    expect((await run("ls -d /workspace; own-tool", { secret_env })).stdout).toBe("/workspace\nplanted\n");
    expect((await run(["ls", "-d", "/workspace"], { secret_env })).stdout).toBe("/workspace\n");
    await run("rm -r ~/.local/bin");
  });
}

const secrets = [{ name: "TOKEN", value: TOKEN }];

describeWalls("secrets of one command", "g17", (box: Sandbox) => {
  let id: string;
  beforeAll(async () => {
    id = (await box.at.sdk.createWorkspace({ ...box.wall, secrets })).workspace_id;
  });
  attacks(() => ({ at: box.at, id }));
});

describe("secrets of one command, OCI runtime runc", () => {
  let at: Installation;
  let id: string;
  beforeAll(async () => {
    at = new Installation("g17-oci", { CLOCHE_OCI_RUNTIME: "runc" });
    id = (await at.sdk.createWorkspace({ environment: "host", secrets })).workspace_id;
  });
  afterAll(() => at[Symbol.asyncDispose]());
  attacks(() => ({ at, id }));
});
