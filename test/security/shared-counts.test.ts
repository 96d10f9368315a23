import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { OWN_IDS, SHIFT_BASE, SHIFT_COUNT } from "../../src/base/id-map.ts";
import { runAsUser } from "../helpers/as-user.ts";
import { withInstallation } from "../helpers/installation.ts";
import { killDaemon, sandboxFolder } from "../helpers/running-daemon.ts";

/**
 * A Perl program that sends descriptors nobody takes. `fill` sends as many as the kernel lets it, and leaves a process behind that keeps them on their way; `one` tells whether one
 * more can be sent.
 */
const SEND = String.raw`
use Socket; use Fcntl;
my $what = shift;
my $limit = pack("QQ", 0, 0); syscall(97, 7, $limit); my ($soft, $hard) = unpack("QQ", $limit);
if ($what eq "fill") { $limit = pack("QQ", $hard, $hard); syscall(160, 7, $limit) }
open(my $null, "<", "/dev/null");
my @kept;
sub send_some {
  my ($to, $count) = @_;
  my $control = pack("Q i i i*", 16 + 4 * $count, 1, 1, (fileno $null) x $count);
  $control .= "\0" x (-length($control) % 8);
  my $byte = "x"; my $io = pack("P Q", $byte, 1);
  my $message = pack("Q L x4 P Q P Q i x4", 0, 0, $io, 1, $control, length $control, 0);
  syscall(46, fileno $to, $message, 0x40) >= 0;
}
sub pair { socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die "$!"; push @kept, $a, $b; $a }
if ($what eq "one") { print send_some(pair(), 1) ? "sent\n" : "$!\n"; exit }
pipe(my $in, my $out);
if (fork) { close $out; print <$in>; exit }
close $in; open(STDIN, "</dev/null"); open(STDOUT, ">/dev/null"); open(STDERR, ">/dev/null");
my ($total, $to) = (0, pair());
while ($total < 100000) {
  if (send_some($to, 253)) { $total += 253; next }
  if ($!{EAGAIN}) { $to = pair(); next }
  last;
}
syswrite $out, $!{ETOOMANYREFS} ? "full at $hard\n" : "stopped: $!\n"; close $out;
sleep 120;`;

const ids = (directory: string) => /^own (\d+)$/m.exec(readFileSync(`${directory}/wall.ids`, "utf8"))?.[1];

describe("G-26 what the kernel counts per user", () => {
  it.each([undefined, "runc"])(
    "G-26 one workspace takes all that it can, and another still has its own (%s)",
    async (runtime) => {
      await withInstallation(
        async (at) => {
          const { sdk, home } = at;
          const create = async () => (await sdk.createWorkspace({ environment: "host" })).workspace_id;
          const [hostile, other] = [await create(), await create()];
          const perl = async (id: string, ...args: string[]) =>
            (await sdk.execWorkspace(id, { command: ["perl", "-e", SEND, ...args] })).stdout;
          expect(await perl(hostile, "fill")).toMatch(/^full at \d+\n$/);
          expect(await perl(hostile, "one")).toMatch(/^Too many references/);
          expect(await perl(other, "one")).toBe("sent\n");
          expect(await perl(await create(), "one")).toBe("sent\n");

          // Who takes the place of a daemon that was killed gives nobody the ids of those that go on.
          const taken = [hostile, other].map((id) => ids(sandboxFolder(home, id)));
          await killDaemon(at);
          const later = ids(sandboxFolder(home, await create()));
          expect(new Set([...taken, later]).size).toBe(3);
          for (const first of [...taken, later].map(Number)) {
            expect(first).toBeGreaterThanOrEqual(OWN_IDS.first);
            expect((first - OWN_IDS.first) % SHIFT_COUNT).toBe(0);
            expect(first).toBeLessThan(OWN_IDS.first + OWN_IDS.ranges * SHIFT_COUNT);
          }
          expect(await perl(other, "one")).toBe("sent\n");
        },
        runtime === undefined ? {} : { CLOCHE_OCI_RUNTIME: runtime },
      );
    },
  );

  it("G-26 files of a sandbox have on disk the owners that all have, whatever ids it runs with", async () => {
    await withInstallation(async ({ sdk, home }) => {
      const { workspace_id: id } = await sdk.createWorkspace({ environment: "host" });
      const { stdout } = await sdk.execWorkspace(id, { command: "touch made; cat /proc/self/uid_map" });
      expect(Number(stdout.trim().split(/\s+/)[1])).toBeGreaterThanOrEqual(OWN_IDS.first);
      const { uid, gid } = statSync(`${sandboxFolder(home, id)}/workspace/upper/made`);
      expect({ uid, gid }).toEqual({ uid: SHIFT_BASE + 1000, gid: SHIFT_BASE + 1000 });
    });
  });

  it("G-26 a sandbox of a user leaves room for the user's own programs", async () => {
    const { stdout, stderr } = await runAsUser(`
      trap '$CLOCHE daemon stop > /dev/null 2>&1' EXIT
      cat > send.pl <<'END'
${SEND}
END
      id=$($CLOCHE workspace create --id-only)
      $CLOCHE workspace exec $id -- perl -e "$(cat send.pl)" fill
      (ulimit -Sn 1024; perl send.pl one)
      $CLOCHE workspace delete $id > /dev/null`);
    expect(stderr).toBe("");
    expect(stdout).toBe("full at 640\nsent\n");
  });
});
