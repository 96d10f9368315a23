import { describe, expect, it } from "vitest";
import { USER_ID, runAsUser } from "../helpers/as-user.ts";

const STOP = "trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT";

/** What a shell script prints in a sandbox of an ordinary user. */
async function inside(script: string): Promise<string> {
  const { stdout, stderr } = await runAsUser(`${STOP}
    cat > attack.sh <<'END'
${script}
END
    $CLOCHE run -- sh -c "$(cat attack.sh)"`);
  expect(stderr).toBe("");
  return stdout;
}

describe("walls of an ordinary user", () => {
  it("G-08 a command cannot take the guest program's descriptors away, though both have one user", async () => {
    const program = `my $l = pack("QQ", 3, 3); $! = 0; print syscall(302, 1, 7, $l, 0), " $!\\n";`;
    expect(await inside(`perl -e '${program}'; grep "open files" /proc/1/limits | tr -s " " | cut -d" " -f4`)).toMatch(
      /^-1 Operation not permitted\n\d{3,}\n$/,
    );
  });

  it("G-26 a sandbox has a bounded number of terminals", async () => {
    const program = 'my @t; while (@t < 1000 && open(my $t, "+<", "/dev/ptmx")) { push @t, $t } print scalar @t';
    expect(await inside(`perl -e '${program}'`)).toBe("128");
  });

  it("G-08 a command that kills the process between it and the guest program dies with it", async () => {
    const { stdout } = await runAsUser(`${STOP}
      id=$($CLOCHE workspace create --id-only)
      $CLOCHE workspace exec $id -- sh -c 'kill -9 $PPID; exec sleep 61.5' > /dev/null 2>&1
      $CLOCHE workspace exec $id -- sh -c "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 61[.]5'"
      $CLOCHE workspace delete $id > /dev/null`);
    expect(stdout).toBe("0\n");
  });

  it("G-05 layers that workspaces share cannot be written, though their files are the command's own", async () => {
    const { stdout } = await runAsUser(`${STOP}
      id=$($CLOCHE workspace create --id-only)
      $CLOCHE workspace exec $id -- sh -c 'echo shared > shared.txt'
      $CLOCHE workspace snapshot create $id shared > /dev/null
      one=$($CLOCHE workspace fork $id --snapshot shared)
      $CLOCHE workspace exec $one -- sh -c '
        for folder in layers/0 baseline upper; do cd /.cloche/$folder && { echo spoiled > shared.txt; rm -f shared.txt; }; done
      ' > /dev/null 2>&1
      two=$($CLOCHE workspace fork $id --snapshot shared)
      $CLOCHE workspace exec $one -- cat shared.txt
      $CLOCHE workspace exec $two -- cat shared.txt
      for workspace in $id $one $two; do $CLOCHE workspace delete $workspace > /dev/null; done`);
    expect(stdout).toBe("shared\nshared\n");
  });

  it("G-07 kernel files are masked", async () => {
    const seen = "for f in kcore kallsyms keys timer_list modules cmdline interrupts; do head -c 100 /proc/$f; done";
    expect(await inside(`(${seen}) 2>/dev/null | wc -c; ls /sys`)).toBe("0\n");
  });

  it("G-15 inotify instances of a sandbox are few, whichever of its namespaces they are counted in", async () => {
    expect(await inside(`perl -e 'my $n = 0; $n++ while syscall(294, 0) >= 0; print "$n\\n"'`)).toMatch(
      /^(\d|[12]\d|3[0-2])\n$/,
    );
  });

  it("G-01 /opt, where groups of the user may read what others may not, does not show", async () => {
    expect(
      await inside("ls -d /opt 2>/dev/null; cat /proc/self/mountinfo | cut -d' ' -f5 | grep '^/opt'; echo end"),
    ).toBe("end\n");
  });

  it("G-01 the mount table says nothing about where cloche is installed", async () => {
    const roots = await inside("cut -d' ' -f4 /proc/self/mountinfo");
    expect(roots).toContain("/guest\n");
    expect(roots).not.toMatch(/cloche-guest|project/);
  });

  it("G-01 neither mounts nor cgroups nor processes name the home, a workspace or the cache", async () => {
    const { stdout } = await runAsUser(`${STOP}
      id=$($CLOCHE workspace create --id-only)
      $CLOCHE workspace exec $id -- sh -c 'echo kept > kept.txt'
      $CLOCHE workspace snapshot create $id one > /dev/null
      fork=$($CLOCHE workspace fork $id --snapshot one)
      $CLOCHE workspace exec $fork -- sh -c 'cat kept.txt /proc/[0-9]*/mountinfo /proc/self/cgroup; cat /proc/[0-9]*/cmdline | tr "\\0" " "'
      for workspace in $id $fork; do $CLOCHE workspace delete $workspace > /dev/null; done`);
    expect(stdout).toContain("kept\n");
    expect(stdout).toContain(" /workspace ");
    expect(stdout).not.toMatch(
      /cl-uh-|\/mnt\/home|workspaces\/|seeds|layers\/|\/upper |environments|\.cloche\/(upper|baseline)/,
    );
  });

  it("G-02 the environment host does not start where something is mounted below a folder that it shows", async () => {
    // In the user's own namespaces, as it would be on a host where root has mounted it.
    const { stdout, stderr } = await runAsUser(`${STOP}
      unshare --user --map-root-user --mount sh -c '
        mount -t tmpfs tmpfs /usr/games && exec unshare --user --map-user=${USER_ID} --map-group=${USER_ID} sh -c "$CLOCHE run -- true"'`);
    expect(stdout).toBe("");
    expect(stderr).toContain("something is mounted below a folder of the host");
  });

  it("G-22 an emulator finds neither a file nor the network nor a process of the user whose id it has", async () => {
    const { stdout, stderr } = await runAsUser(String.raw`
      echo secret > secret.txt
      mkdir machine
      sleep 60 & victim=$!
      cat > machine/attack.pl <<'END'
my ($home, $victim) = ($ARGV[0], $ARGV[1] + 0); # a number, or its text would be passed by address
for my $path ("$home/secret.txt", "$home", "/home", "/root", "/tmp", "/var", "/etc/passwd", "/dev/null", "/proc/$victim") { print "saw $path\n" if -e $path }
for my $path ("made", "/made", "/usr/made", "/proc/self/comm") { print "wrote $path\n" if open my $file, ">", $path }
print "renamed\n" if rename "attack.pl", "other.pl";
print "killed\n" if kill 9, $victim;
print "killed a thread\n" if syscall(234, $victim, $victim, 9) == 0;
print "killed by tkill\n" if syscall(200, $victim, 9) == 0;
my ($info, $limit) = (pack("iiix116", 9, 0, -1), pack("QQ", 3, 3));
print "queued\n" if syscall(129, $victim, 9, $info) == 0;
my $pidfd = syscall(434, $victim, 0);
print "killed by descriptor\n" if $pidfd >= 0 && syscall(424, $pidfd, 9, 0, 0) == 0;
print "owns a descriptor\n" if fcntl STDIN, 8, $victim;
print "slowed down\n" if syscall(141, 0, $victim, 19) == 0;
print "limited\n" if syscall(302, $victim, 7, $limit, 0) == 0;
print "traced\n" if syscall(101, 16, $victim, 0, 0) == 0;
open my $devices, "<", "/proc/self/net/dev"; my @lines = <$devices>;
print map { /(\w+):/ ? "$1\n" : () } @lines;
print "own thread\n" if syscall(234, $$ + 0, $$ + 0, 0) == 0;
END
      /mnt/project/build/guest/${process.arch}/cloche-guest emulator --directory $PWD/machine -- /usr/bin/perl attack.pl $HOME $victim 3>&- < secret.txt
      kill $victim && echo "the victim lives"`);
    expect(stderr).toBe("");
    expect(stdout).toBe("lo\nown thread\nthe victim lives\n");
  });
});
