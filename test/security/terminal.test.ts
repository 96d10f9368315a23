import { expect, it } from "vitest";
import { describeWalls } from "../helpers/sandbox.ts";

const TIOCSTI = 0x5412;

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
});
