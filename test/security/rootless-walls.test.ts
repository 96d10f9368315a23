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
