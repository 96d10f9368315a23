import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ShellOutput } from "../../src/model/shell.ts";
import type { LiveWorkspace } from "../../src/workspaces/live-workspace.ts";
import { ShellGuest } from "./shell-guest.ts";

/** Of a workspace without a name. */
const PROMPT = "ws-test $";

let guest: ShellGuest;
let live: LiveWorkspace;
const SECRET = "pa55-the-secret-word";

beforeAll(async () => {
  guest = await ShellGuest.start();
  live = guest.live({ TOKEN: SECRET });
});
afterAll(async () => guest[Symbol.asyncDispose]());

const workspace_id = "ws-test";
const open = async (fields: { cols?: number; rows?: number; cwd?: string; secret_env?: Record<string, string> } = {}) =>
  (await guest.shells.open(live, { workspace_id, ...fields })).shell_id;
const write = (shell_id: string, input: string, append_newline = true) =>
  guest.shells.write(live, { workspace_id, shell_id, input, append_newline });
const read = (shell_id: string, fields: Record<string, unknown> = {}): Promise<ShellOutput> =>
  guest.shells.read(live, { workspace_id, shell_id, wait_for_idle_ms: 150, ...fields });
const lines = (output: string) => output.split("\n");

/** Reads until the text has come, in steps of quiet: how long a shell takes is chance. */
async function readUntil(
  shell_id: string,
  text: string | ((output: string) => boolean),
  fields: Record<string, unknown> = {},
): Promise<ShellOutput> {
  const isThere = typeof text === "string" ? (output: string) => output.includes(text) : text;
  for (;;) {
    const seen = await read(shell_id, { wait_for_idle_ms: 50, ...fields });
    if (isThere(seen.output)) return seen;
    if (seen.state !== "running") throw new Error(`the shell has ended: ${seen.output}`);
  }
}

/** The lines of the screen, once they end so. */
const linesUntil = async (shell_id: string, ...last: string[]): Promise<string[]> =>
  lines(
    (
      await readUntil(shell_id, (output) => lines(output).slice(-last.length).join("\n") === last.join("\n"), {
        plain: true,
      })
    ).output,
  );
let sleeps = 0;
/** Has a program sleep in the foreground, and waits until it does; `after` is what the shell is to do then. */
async function fallAsleep(shell_id: string, after = ""): Promise<void> {
  const before = sleeps++;
  await write(shell_id, `perl -e '$| = 1; print "asleep-", ${before} + 1, "\\n"; sleep 600'${after}`);
  await readUntil(shell_id, `asleep-${sleeps}`);
}

describe("a shell", () => {
  it("starts under /workspace, keeps its state, and is read by absolute offsets", async () => {
    const shell = await guest.shells.open(live, { workspace_id, cwd: "deep", cols: 80, rows: 24 });
    expect(shell).toEqual({
      workspace_id,
      shell_id: expect.stringMatching(/^sh-[0-9a-z]{8}$/) as unknown,
      state: "running",
      cwd: "/workspace/deep",
      cols: 80,
      rows: 24,
      exit_code: null,
      opened_at: expect.any(Number) as unknown,
    });
    const id = shell.shell_id;
    await write(id, "WORD=kiwi");
    await write(id, "echo $WORD-$((40+2)); pwd; echo $TERM; id -u; echo ${HOME}");
    const one = await readUntil(id, "/deep\r\nxterm-256color\r\n1000\r\n");
    expect(one).toMatchObject({ cursor: 0, plain: false, truncated: false, wait_for_idle_ms: 50 });
    expect(one.output).toContain("kiwi-42\r\n/workspace/deep\r\n");
    expect(one.next_cursor).toBe(one.output.length);
    await write(id, "echo second-$((1+1))");
    const two = await readUntil(id, "second-2", { cursor: one.next_cursor });
    expect(two.cursor).toBe(one.next_cursor);
    expect(two.output).not.toContain("kiwi-42");
    const whole = await read(id);
    expect(whole.output).toBe(one.output + two.output);
    const part = await read(id, { max_chars: 10 });
    expect(part).toMatchObject({ output: whole.output.slice(0, 10), next_cursor: 10, truncated: true });
  });

  it("shows no text twice: what is typed after the opening comes after the prompt", async () => {
    const id = await open();
    await write(id, "true");
    expect(await linesUntil(id, `${PROMPT} true`, PROMPT)).toEqual([`${PROMPT} true`, PROMPT]);
  });

  it("is refused in a folder that is not there or outside, and leaves no record", async () => {
    const before = guest.records.size;
    await expect(open({ cwd: "nowhere" })).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(open({ cwd: "/etc" })).rejects.toMatchObject({ code: "PATH_OUTSIDE_WORKSPACE" });
    await expect(open({ secret_env: { NONE: "X" } })).rejects.toMatchObject({ code: "SECRET_NOT_FOUND" });
    expect(guest.records.size).toBe(before);
  });

  it("refuses a cursor from the future, tells what its ring has lost, and goes on from there", async () => {
    const id = await open();
    const { next_cursor: end } = await readUntil(id, (output) => output.endsWith("$ "));
    await expect(read(id, { cursor: end + 1 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await write(id, "seq 1 300000; echo flood-$((1+1))");
    const last = await readUntil(id, "flood-2", { cursor: end, max_chars: 16_777_216 });
    expect(last).toMatchObject({ truncated: true });
    expect(last.cursor).toBeGreaterThan(end);
    expect(last.next_cursor - last.cursor).toBe(last.output.length);
    expect(last.output.length).toBeLessThanOrEqual(1024 * 1024);
    expect(last.output).toContain("\n299999\r\n300000\r\n");
    const prompt = (await readUntil(id, (output) => output.endsWith("$ "), { cursor: last.next_cursor - 2 }))
      .next_cursor;
    const again = await read(id, { cursor: prompt });
    expect(again).toMatchObject({ cursor: prompt, output: "", truncated: false });
    const plain = await read(id, { plain: true, cursor: prompt - 20 });
    expect(lines(plain.output).slice(-2)).toEqual(["flood-2", PROMPT]);
  });

  it("never cuts a character, and holds back one that is not complete", async () => {
    const id = await open();
    await write(id, "clear; printf 'x\\303'; sleep 0.4; printf '\\244y\\n'");
    const start = await readUntil(id, "x", { cursor: 0 });
    expect(start.output).not.toContain("\uFFFD");
    const all = await readUntil(id, "xäy");
    expect(Buffer.byteLength(all.output)).toBe(all.next_cursor);
    let text = "";
    for (let cursor = 0; cursor < all.next_cursor;) {
      const piece = await read(id, { cursor, max_chars: 1, wait_for_idle_ms: null });
      expect(piece.next_cursor).toBeGreaterThan(cursor);
      cursor = piece.next_cursor;
      text += piece.output;
    }
    expect(text).toBe(all.output);
  });

  it("is rendered as a person sees it", async () => {
    const id = await open({ cols: 40, rows: 10 });
    await write(id, String.raw`printf 'one\rtwo\n\033[31mred\033[0m\nabX\bc\n日本語\n'; printf '%060d\n' 7`);
    const plain = await readUntil(id, (output) => output.endsWith(`7\n${PROMPT}`), { plain: true });
    expect(lines(plain.output)).toEqual(
      expect.arrayContaining(["two", "red", "abc", "日本語", `${"0".repeat(59)}7`]) as unknown,
    );
    expect(plain.output).not.toContain("\u001b");
    expect(plain.next_cursor).toBe((await read(id)).next_cursor);
    await write(id, "clear; echo clean-$((2+3))");
    const cleared = await readUntil(id, (output) => output.endsWith(`clean-5\n${PROMPT}`), {
      plain: true,
      cursor: plain.next_cursor,
    });
    expect(lines(cleared.output)).toEqual(["clean-5", PROMPT]);
  });

  it("shows the screen of a full-screen program, and what was there before when it ends", async () => {
    const id = await open({ cols: 60, rows: 8 });
    await write(id, "seq 1 100 | less");
    expect(await linesUntil(id, "7", ":")).toEqual(["1", "2", "3", "4", "5", "6", "7", ":"]);
    await write(id, "q", false);
    expect(await linesUntil(id, PROMPT)).toEqual([`${PROMPT} seq 1 100 | less`, PROMPT]);
  });

  it("is idle when nothing came for so long, also when it was silent at first", async () => {
    const id = await open();
    await write(id, "sleep 0.5; echo late-$((2+2))");
    const late = await read(id, { wait_for_idle_ms: 3000 });
    expect(late.output).toContain("late-4");
    await write(id, "exit 7");
    const ended = await read(id, { wait_for_idle_ms: 60_000 }); // longer than this test may take
    expect(ended.state).toBe("exited");
    expect(guest.records.get(id)).toMatchObject({ state: "exited", exitCode: 7 });
    const controller = new AbortController();
    const other = await open();
    const waiting = guest.shells.read(live, { workspace_id, shell_id: other, wait_for_idle_ms: 60_000 }, controller);
    controller.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
  });

  it("has the size it is told", async () => {
    const id = await open({ cols: 91, rows: 33 });
    await write(id, "stty size");
    expect(await linesUntil(id, "33 91", PROMPT)).toContain("33 91");
    const resized = await guest.shells.resize(live, { workspace_id, shell_id: id, cols: 100, rows: 40 });
    expect(resized).toMatchObject({ cols: 100, rows: 40, state: "running" });
    await write(id, "stty size");
    expect(await linesUntil(id, "40 100", PROMPT)).toContain("40 100");
  });

  it("gets signals: INT ends the foreground job, HUP, TERM and KILL go to all of it", async () => {
    const id = await open();
    await fallAsleep(id, "; echo woke");
    await guest.shells.signal(live, { workspace_id, shell_id: id });
    await write(id, "echo after-$((4+4))");
    const text = (await readUntil(id, "after-8", { plain: true })).output;
    expect(lines(text)).not.toContain("woke");
    await fallAsleep(id, "; echo ended-$?");
    await guest.shells.signal(live, { workspace_id, shell_id: id, signal: "TERM" });
    await readUntil(id, "ended-143");
    await guest.shells.signal(live, { workspace_id, shell_id: id, signal: "KILL" });
    expect(await read(id, { wait_for_idle_ms: 60_000 })).toMatchObject({ state: "exited" });
    expect(guest.records.get(id)).toMatchObject({ exitCode: 137 });
    for (const call of [
      guest.shells.signal(live, { workspace_id, shell_id: id }),
      write(id, "x"),
      guest.shells.resize(live, { workspace_id, shell_id: id, cols: 10, rows: 10 }),
    ])
      await expect(call).rejects.toMatchObject({ code: "SHELL_NOT_RUNNING" });
    const other = await open();
    await readUntil(other, "$ "); // a shell that still reads its start files puts the signal off until it is asked something
    await guest.shells.signal(live, { workspace_id, shell_id: other, signal: "HUP" });
    expect((await read(other, { wait_for_idle_ms: 30_000 })).state).toBe("exited");
  });

  it("takes text without a newline, and large text; one that is not read is an error that says how much went in", async () => {
    const id = await open();
    await write(id, "echo half-", false);
    await write(id, "$((5+5))");
    await readUntil(id, "half-10");
    await write(id, "stty -echo -icanon; echo raw-$((1+1)); head -c 200000 | wc -c");
    await readUntil(id, "raw-2");
    expect(await write(id, "y".repeat(199_999))).toMatchObject({ bytes_written: 200_000 });
    await readUntil(id, "200000");
    await fallAsleep(id);
    const refused = await write(id, "z".repeat(500_000)).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "WORKSPACE_BUSY",
      details: { bytes_written: expect.any(Number) as unknown },
    });
    await guest.shells.close(live, { workspace_id, shell_id: id });
  });

  it("is gone with all it started when it is closed, also one that ignores the hang-up", async () => {
    const id = await open();
    await write(id, "trap '' HUP; (trap '' HUP; sleep 4321) & echo deaf-$((1+1)); sleep 4322");
    await readUntil(id, "deaf-2");
    expect(await guest.shells.close(live, { workspace_id, shell_id: id })).toEqual({
      workspace_id,
      shell_id: id,
      closed: true,
    });
    for (const call of [read(id), write(id, "x"), guest.shells.close(live, { workspace_id, shell_id: id })])
      await expect(call).rejects.toMatchObject({ code: "SHELL_NOT_FOUND" });
    expect(guest.records.has(id)).toBe(false);
    const other = await open();
    await write(other, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 432[12]'");
    expect(await linesUntil(other, "0", PROMPT)).toContain("0");
  });

  it("closed while somebody waits for it is not found", async () => {
    const id = await open();
    const waiting = read(id, { wait_for_idle_ms: 60_000 });
    await guest.shells.close(live, { workspace_id, shell_id: id });
    await expect(waiting).rejects.toMatchObject({ code: "SHELL_NOT_FOUND" });
  });
});

describe("secrets in a shell", () => {
  it("come out of no read, wherever it is cut", async () => {
    const id = await open({ secret_env: { TOKEN: "MINE" } });
    await write(id, "echo got-$MINE-end");
    const whole = await readUntil(id, "-end\r\n");
    expect(whole.output).toContain("got-[REDACTED]-end\r\n");
    let text = "";
    for (let cursor = 0; cursor < whole.next_cursor;) {
      const piece = await read(id, { cursor, max_chars: 3, wait_for_idle_ms: null });
      text += piece.output;
      cursor = piece.next_cursor;
    }
    expect(text).toBe(whole.output);
    for (let cursor = 0; cursor < whole.next_cursor; cursor++) {
      const { output } = await read(id, { cursor, wait_for_idle_ms: null });
      for (let at = 0; at + 4 <= SECRET.length; at++) expect(output).not.toContain(SECRET.slice(at, at + 4));
    }
  });

  it("that come in two writes are held back between, and a beginning that goes on otherwise is shown", async () => {
    const id = await open({ secret_env: { TOKEN: "MINE" } });
    await write(id, "stty -echo; PS1=");
    await read(id);
    await write(
      id,
      "printf %s ${MINE:0:9}; sleep 0.4; printf %s ${MINE:9}; echo; printf '%s' ${MINE:0:9}; sleep 0.4; echo z",
    );
    const half = await read(id, { wait_for_idle_ms: 100 });
    expect(half.output).not.toContain("pa55");
    const full = await readUntil(id, "z\r\n", { cursor: half.next_cursor });
    expect(full.output).toContain(`[REDACTED]\r\n${SECRET.slice(0, 9)}z`);
  });

  it("are found in plain text although colours split them", async () => {
    const id = await open({ secret_env: { TOKEN: "MINE" } });
    await write(id, String.raw`printf '%s\033[31m%s\033[0m\n' ${"$"}{MINE:0:9} ${"$"}{MINE:9}`);
    expect(await linesUntil(id, "[REDACTED]", PROMPT)).toContain("[REDACTED]");
  });
});

describe("many", () => {
  it("readers see the same, and another daemon finds what the first one opened", async () => {
    const id = await open();
    await write(id, "WORD=remembered");
    const other = guest.live();
    const stray = await other.guest().then((client) =>
      client.spawn({
        argv: ["sleep", "600"],
        env: {},
        cwd: "/",
        user: { uid: 1000, gid: 1000 },
        keep: true,
        tag: "shell:sh-stray",
      }),
    );
    stray.discardOutput();
    await stray.started;
    guest.records.set("sh-gone0000", {
      shellId: "sh-gone0000",
      cwd: "/",
      cols: 1,
      rows: 1,
      state: "running",
      exitCode: null,
      openedAt: null,
    });
    await guest.shells.adopt(other);
    expect(guest.records.has("sh-gone0000")).toBe(false);
    expect((await (await other.guest()).processes()).some(({ tag }) => tag === "shell:sh-stray")).toBe(false);
    await guest.shells.write(other, { workspace_id, shell_id: id, input: "echo $WORD-$((6+6))" });
    await readUntil(id, (output) => /remembered-12\r\n.*\$ $/.test(output));
    const both = await Promise.all([
      read(id, { wait_for_idle_ms: 400 }),
      guest.shells.read(other, { workspace_id, shell_id: id, wait_for_idle_ms: 400 }),
    ]);
    expect(both[0].output).toContain("remembered-12");
    expect(both[1]).toEqual(both[0]);
    await other.release();
  });

  it("shells can be open at once", async () => {
    const ids = await Promise.all(Array.from({ length: 120 }, () => open()));
    expect(new Set(ids).size).toBe(120);
    await Promise.all(ids.map((id, index) => write(id, `echo mine-$((${index}+1000))`)));
    await Promise.all(ids.map((id, index) => readUntil(id, `mine-${index + 1000}`)));
    await Promise.all(ids.map((shell_id) => guest.shells.close(live, { workspace_id, shell_id })));
    for (const id of ids) expect(guest.records.has(id)).toBe(false);
  });
});

describe("an attached client", () => {
  it("sees the last screenful, types, follows the output without secrets, and leaves the shell running", async () => {
    const id = await open({ secret_env: { TOKEN: "MINE" } });
    await write(id, "echo before-$((7+7))");
    await readUntil(id, "before-14");
    const keys = channel();
    const seen = watcher();
    const attached = guest.shells.attach(
      live,
      { workspace_id, shell_id: id, cols: 77, rows: 11 },
      { signal: new AbortController().signal, stdin: keys.stream(), sink: seen.sink },
    );
    await seen.until("before-14");
    keys.push("stty size; echo tok-$MINE-\r");
    await seen.until("11 77");
    await seen.until("tok-[REDACTED]-");
    expect(seen.text()).not.toContain(SECRET);
    keys.end();
    expect(await attached).toMatchObject({ state: "running", cols: 77, rows: 11 });
    expect((await read(id)).state).toBe("running");
  });

  it("gets the end of the shell, starts at a cursor, and is let go by an abort", async () => {
    const id = await open();
    await write(id, "echo skipped-$((1+1))");
    const { next_cursor: cursor } = await readUntil(id, "skipped-2");
    const [keys, seen] = [channel(), watcher()];
    const input = { workspace_id, shell_id: id, cols: 80, rows: 24, cursor };
    const stop = new AbortController();
    const left = guest.shells.attach(live, input, {
      signal: stop.signal,
      stdin: channel().stream(),
      sink: watcher().sink,
    });
    const attached = guest.shells.attach(live, input, {
      signal: new AbortController().signal,
      stdin: keys.stream(),
      sink: seen.sink,
    });
    stop.abort();
    await expect(left).rejects.toThrow(/abort/i);
    keys.push("exit 3\r");
    expect(await attached).toMatchObject({ state: "exited", exit_code: 3 });
    expect(seen.text()).not.toContain("skipped-2");
    await expect(
      guest.shells.attach(
        live,
        { ...input, cursor: 1_000_000 },
        { signal: stop.signal, stdin: keys.stream(), sink: seen.sink },
      ),
    ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

/** What is typed. */
function channel() {
  const waiting: Buffer[] = [];
  let ended = false;
  let wake: () => void = () => undefined;
  return {
    push: (text: string) => {
      waiting.push(Buffer.from(text));
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    async *stream() {
      for (;;) {
        const next = waiting.shift();
        if (next) yield next;
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** What comes out. */
function watcher() {
  let text = "";
  let wake: () => void = () => undefined;
  const stdout = (data: Buffer) => {
    text += data.toString("utf8");
    wake();
    return Promise.resolve();
  };
  return {
    sink: { stdout, stderr: stdout },
    text: () => text,
    async until(part: string) {
      while (!text.includes(part)) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}
