import { describe, expect, it } from "vitest";
import { runAsUser } from "../helpers/as-user.ts";

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
});
