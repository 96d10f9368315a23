import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { collect, command, RealGuest, run, shell } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
beforeAll(async () => {
  guest = await RealGuest.start();
  client = await guest.client();
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

describe("the guest program", () => {
  it("says what it is", () => {
    expect(client.hello).toMatchObject({ version: 1, hasLayers: false, canChangeUser: true, pid: 1 });
    expect(client.hello.bootId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("answers a PING", async () => {
    await client.ping();
  });

  it("runs a command as the user, in its directory, with its environment and nothing else", async () => {
    const script = "id -u; id -g; pwd; env | grep -v '^\\(PWD\\|SHLVL\\|_\\|OLDPWD\\)=' | sort; echo fault >&2";
    const { stdout, stderr, exit } = await shell(client, script, { cwd: "/usr", env: { PATH: "/bin", A: "b c" } });
    expect(stdout).toBe("1000\n1000\n/usr\nA=b c\nPATH=/bin\n");
    expect(stderr).toBe("fault\n");
    expect(exit).toMatchObject({ kind: "exited", code: 0, timedOut: false });
    expect(exit.durationUs).toBeGreaterThan(0);
  });

  it.each([0, 1, 42, 255])("tells the exit code %d", async (code) => {
    expect((await shell(client, `exit ${code}`)).exit).toMatchObject({ kind: "exited", code });
  });

  it("tells the signal that ended a command", async () => {
    expect((await shell(client, "kill -SEGV $$")).exit).toMatchObject({ kind: "signalled", code: 11 });
  });

  it.each([
    ["a program that is not there", { argv: ["/no/such"] }, 2],
    ["a program that may not be run", { argv: ["/etc/passwd"] }, 13],
    ["a directory that is not there", { cwd: "/no/such" }, 2],
  ])("says that %s could not be started", async (_name, fields, errno) => {
    const { exit } = await run(client, ["true"], fields);
    expect(exit).toMatchObject({ kind: "failed", code: errno });
    expect(exit.message).not.toBe("");
  });

  it("passes stdin on, megabytes of it, and ends it", async () => {
    const process = client.spawn(command(["sh", "-c", "wc -c; exit 3"], { stdin: true }));
    const result = collect(process);
    for (let times = 0; times < 64; times++) await process.write(Buffer.alloc(100_000, times));
    process.endInput();
    expect((await result).stdout.trim()).toBe("6400000");
    expect((await result).exit.code).toBe(3);
  });

  it("gives back exactly what was sent", async () => {
    const process = client.spawn(command(["cat"], { stdin: true }));
    const sent = Buffer.from(Array.from({ length: 1_000_000 }, (_, at) => (at * 7919) & 0xff));
    const write = process.write(sent).then(() => process.endInput());
    const parts: Buffer[] = [];
    let next = 0;
    for await (const { offset, data } of process.output()) {
      expect(offset).toBe(next);
      next += data.length;
      parts.push(data);
    }
    await write;
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
  });

  it("has an empty stdin when none was asked for", async () => {
    expect((await run(client, ["cat"])).exit.code).toBe(0);
  });

  it("does not wait for a command that reads no input", async () => {
    const process = client.spawn(command(["true"], { stdin: true }));
    const write = process.write(Buffer.alloc(10_000_000));
    await collect(process);
    await write;
  });

  it("signals the group of a command", async () => {
    const process = client.spawn(
      command(["sh", "-c", "trap 'echo caught; exit 7' USR1; echo ready; while :; do sleep 0.02; done"]),
    );
    const seen: string[] = [];
    for await (const { channel, data } of process.output()) {
      if (data.toString().includes("ready")) process.signal(10);
      if (channel === "stdout") seen.push(data.toString());
    }
    expect(seen.join("")).toBe("ready\ncaught\n");
    expect((await process.exit).code).toBe(7);
  });

  it("gives a terminal of the size asked for, and resizes it", async () => {
    const script =
      "trap 'stty size; exit 0' WINCH; stty size; test -t 0 && test -t 2 && echo tty; while :; do sleep 0.02; done";
    const process = client.spawn(command(["sh", "-c", script], { pty: { cols: 101, rows: 37 }, stdin: true }));
    let text = "";
    let resized = false;
    for await (const { channel, data } of process.output()) {
      expect(channel).toBe("stdout");
      text += data.toString();
      if (text.includes("tty") && !resized) {
        resized = true;
        process.resize(88, 44);
      }
    }
    expect(text).toBe("37 101\r\ntty\r\n44 88\r\n");
  });

  it("takes what is typed on a terminal, Ctrl-C included", async () => {
    // not a shell: that may put a signal off while it starts a command
    const script = "$| = 1; $line = <STDIN>; print qq(got $line); sleep 314";
    const process = client.spawn(command(["perl", "-e", script], { pty: { cols: 80, rows: 25 }, stdin: true }));
    await process.write(Buffer.from("hello\n"));
    let text = "";
    for await (const { data } of process.output()) {
      text += data.toString();
      if (text.includes("got hello")) await process.write(Buffer.of(3));
    }
    expect(await process.exit).toMatchObject({ kind: "signalled", code: 2 });
  });

  it("lets a flood wait for its reader, and others work meanwhile", async () => {
    const process = client.spawn(command(["sh", "-c", "yes | head -c 50000000"]));
    const reader = process.output();
    await reader.next();
    const before = globalThis.process.memoryUsage().arrayBuffers;
    for (let times = 0; times < 50; times++) expect((await run(client, ["true"])).exit.code).toBe(0);
    expect(globalThis.process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
    let bytes = 2;
    for await (const { offset, data } of reader) bytes = offset + data.length;
    expect(bytes).toBe(50_000_000);
  });

  it("drops the oldest output when asked, and says by the offsets how much", async () => {
    const spec = command(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; printf end"], { dropOldest: true });
    const process = client.spawn(spec);
    await process.started;
    const reader = process.output();
    await reader.next();
    let total = 0;
    let received = 0;
    let last = "";
    let running = true;
    void process.exit.then(() => (running = false));
    // nobody reads for a while: the command ends all the same, because the ring drops
    const seen = client.attach((await process.started).process, { stdout: 0, stderr: 0 });
    seen.discardOutput();
    await seen.exit;
    for await (const { offset, data } of reader) {
      total = offset + data.length;
      received += data.length;
      last = data.toString().slice(-3);
    }
    expect([total, last, running]).toEqual([3_000_003, "end", false]);
    expect(received).toBeLessThan(1_000_000);
  });
});
