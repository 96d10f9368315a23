import { expect, it } from "vitest";
import { runProcess } from "../helpers/installation.ts";
import { describeWalls } from "../helpers/sandbox.ts";

const TIOCSTI = 0x5412;
/** As many as one sandbox may have open at once. */
const MOST = 128;
/** Opens terminals until there are no more, tells how many, and holds them; no more than the host has for everybody. */
const TAKER = `$| = 1; my @taken; while (@taken < 4000 && open(my $t, "+<", "/dev/ptmx")) { push @taken, $t }
  print scalar(@taken), " taken\\n"; sleep 60`;

describeWalls("G-09 terminals", "g09", (box) => {
  it("G-09 a command without a terminal has none, and no way to one of the host", async () => {
    expect((await box.sh("tty; exec 3<>/dev/tty")).exit_code).not.toBe(0);
    expect((await box.sh("ls /dev/pts | grep -v ptmx")).stdout).toBe("");
  });

  it("G-09 input cannot be pushed into a terminal, not even the command's own", async () => {
    const stream = box.at.sdk.openCommand(box.id, {
      command: [
        "perl",
        "-e",
        `my $c = "x"; my $r = ioctl(STDIN, ${TIOCSTI}, $c); print defined $r ? "pushed" : "refused: $!", "\\n"; print -t STDIN ? "tty" : "no tty"`,
      ],
      pty: { cols: 80, rows: 24 },
      stdin: true,
    });
    let text = "";
    for await (const { data } of stream.output()) text += data.toString();
    expect(text).toMatch(/refused: Operation not permitted/);
    expect(text).toContain("tty");
  });

  it("G-26 a sandbox that takes all terminals it can get leaves some to others and to the host", async () => {
    const other = await box.create();
    const { sdk } = box.at;
    await sdk.startService(box.id, "taker", { command: ["perl", "-e", TAKER] });
    let log = "";
    while (!log.includes("taken")) log = (await sdk.logsService(box.id, "taker")).stdout;
    const taken = Number(log.split(" ")[0]);
    expect(taken).toBeGreaterThan(0);
    // A machine's kernel has its own, and nobody else's.
    if (box.wall.backend !== "vm") expect(taken).toBeLessThanOrEqual(MOST);
    const { shell_id: shell } = await sdk.openShell(other);
    await sdk.closeShell(other, shell);
    const onHost = 'open(my $t, "+<", "/dev/ptmx") or die "$!"; print "got one\\n"';
    expect((await runProcess("perl", ["-e", onHost])).stdout).toBe("got one\n");
    if (box.wall.backend !== "vm")
      await expect(sdk.openShell(box.id)).rejects.toThrow("all terminals of the sandbox are taken");
    await sdk.stopService(box.id, "taker");
    const { shell_id: own } = await sdk.openShell(box.id);
    await sdk.closeShell(box.id, own);
    await sdk.deleteWorkspace(other);
  });
});
