import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, Installation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

const failing = (code: string, words = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(words) as string }) as Error;

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("sh");
  id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
});
afterAll(() => at[Symbol.asyncDispose]());

const open = async (options = {}): Promise<string> => (await at.sdk.openShell(id, options)).shell_id;
const type = (shell: string, input: string) => at.sdk.writeShell(id, shell, { input });
const read = (shell: string, options: Parameters<Installation["sdk"]["readShell"]>[2] = {}) =>
  at.sdk.readShell(id, shell, options);
/** Reads until it is there. */
const shows = async (shell: string, text: string, options = {}) => {
  let seen = "";
  await eventually(async () => {
    seen = (await read(shell, options)).output;
    expect(seen).toContain(text);
  });
  return seen;
};

describe("a cursor", () => {
  it("from the future is refused and says where the end is; the end itself is an empty read", async () => {
    const shell = await open();
    await type(shell, "echo quiet-$((1+1)); exec sleep 600"); // and no prompt any more
    await shows(shell, "quiet-2\r\n");
    const { next_cursor: end } = await read(shell);
    await expect(read(shell, { cursor: end + 1 })).rejects.toThrow(failing("INVALID_ARGUMENT", String(end)));
    await expect(read(shell, { cursor: 2 ** 52 })).rejects.toThrow(failing("INVALID_ARGUMENT"));
    await expect(read(shell, { cursor: -1 })).rejects.toThrow(failing("INVALID_ARGUMENT"));
    expect(await read(shell, { cursor: end })).toMatchObject({
      output: "",
      cursor: end,
      next_cursor: end,
      truncated: false,
    });
    await at.sdk.closeShell(id, shell);
  });

  it("from before the ring starts at what is left and says that something is lost", async () => {
    const shell = await open();
    await type(shell, "seq 1 400000; echo all-$((1+1))");
    await shows(shell, "all-2", { cursor: 1_000_000, max_chars: 16_000_000 });
    const first = await read(shell, { cursor: 0, max_chars: 100 });
    expect(first.truncated).toBe(true);
    expect(first.cursor).toBeGreaterThan(1_000_000);
    expect(first.next_cursor - first.cursor).toBe(100);
    let cursor = first.next_cursor;
    let text = first.output;
    for (;;) {
      const next = await read(shell, { cursor, max_chars: 300_000 });
      if (next.output === "") break;
      expect(next.cursor).toBe(cursor);
      text += next.output;
      cursor = next.next_cursor;
    }
    const numbers = [...text.matchAll(/^(\d+)\r$/gm)].map((match) => Number(match[1])).slice(1);
    expect(numbers.at(-1)).toBe(400_000);
    expect(numbers.length).toBeGreaterThan(100_000);
    for (let nth = 1; nth < numbers.length; nth++)
      if (numbers[nth] !== (numbers[nth - 1] ?? 0) + 1) expect.fail(`gap after ${numbers[nth - 1]}`);
    await at.sdk.closeShell(id, shell);
  });
});

describe("shells", () => {
  it("a hundred at once answer each for itself, and go with the workspace", async () => {
    const other = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
    const shells = await Promise.all(Array.from({ length: 100 }, async () => (await at.sdk.openShell(other)).shell_id));
    expect(new Set(shells).size).toBe(100);
    await Promise.all(
      shells.map((shell, nth) => at.sdk.writeShell(other, shell, { input: `echo me-$((${nth}+1000))` })),
    );
    await Promise.all(
      shells.map((shell, nth) =>
        eventually(async () =>
          expect((await at.sdk.readShell(other, shell, { plain: true })).output.split("\n")).toContain(
            `me-${nth + 1000}`,
          ),
        ),
      ),
    );
    expect((await at.sdk.execWorkspace(other, { command: "echo beside" })).stdout).toBe("beside\n");
    for (const verb of [
      () => at.sdk.readShell(id, shells[0] ?? ""),
      () => at.sdk.writeShell(id, shells[0] ?? "", { input: "x" }),
      () => at.sdk.signalShell(id, shells[0] ?? ""),
      () => at.sdk.resizeShell(id, shells[0] ?? "", { cols: 80, rows: 24 }),
      () => at.sdk.closeShell(id, shells[0] ?? ""),
    ])
      await expect(verb(), "a shell of another workspace").rejects.toThrow(
        failing("SHELL_NOT_FOUND", `"${shells[0]}"`),
      );
    await at.sdk.deleteWorkspace(other);
  });

  it("one that has ended can be read and closed, not written, resized or signalled", async () => {
    const shell = await open();
    await type(shell, "echo last words; exit 5");
    await eventually(async () => expect((await read(shell)).state).toBe("exited"));
    expect((await read(shell, { plain: true })).output).toContain("last words");
    await expect(at.sdk.signalShell(id, shell)).rejects.toThrow(failing("SHELL_NOT_RUNNING", shell));
    await expect(at.sdk.signalShell(id, shell, { signal: "KILL" })).rejects.toThrow(failing("SHELL_NOT_RUNNING"));
    await expect(type(shell, "x")).rejects.toThrow(failing("SHELL_NOT_RUNNING"));
    await expect(at.sdk.resizeShell(id, shell, { cols: 10, rows: 10 })).rejects.toThrow(failing("SHELL_NOT_RUNNING"));
    await at.sdk.closeShell(id, shell);
    await expect(read(shell)).rejects.toThrow(failing("SHELL_NOT_FOUND"));
    await expect(at.sdk.closeShell(id, shell)).rejects.toThrow(failing("SHELL_NOT_FOUND"));
  });

  it("bad arguments are refused before anything opens", async () => {
    for (const options of [
      { cols: 0 },
      { rows: 100_000 },
      { cwd: "/etc" },
      { cwd: "no/such" },
      { secret_env: { NOPE: "X" } },
    ])
      await expect(at.sdk.openShell(id, options), JSON.stringify(options)).rejects.toThrow(
        expect.objectContaining({
          code: expect.stringMatching(
            /INVALID_ARGUMENT|PATH_OUTSIDE_WORKSPACE|FILE_NOT_FOUND|SECRET_NOT_FOUND/,
          ) as string,
        }) as Error,
      );
    for (const shell of ["nonsense", "../x", "sh-00000000"])
      await expect(read(shell)).rejects.toThrow(failing("SHELL_NOT_FOUND"));
  });

  it("survive kill -9 of the daemon: same process, same screen, same cursors; a read that waits goes on", async () => {
    const shell = await open();
    await type(shell, "mine=kept; echo before-$((1+1))");
    await shows(shell, "before-2");
    const before = await read(shell, { wait_for_idle_ms: 100 });
    await type(shell, "sleep 1; echo later-$((2+2))");
    const waiting = read(shell, { cursor: before.next_cursor, wait_for_idle_ms: 4000 });
    waiting.catch(() => undefined);
    await new Promise((done) => setTimeout(done, 200));
    await killDaemon(at);
    expect((await waiting).output).toContain("later-4");
    expect((await read(shell, { max_chars: before.output.length })).output).toBe(before.output);
    await type(shell, "echo $mine-$((3+3))");
    await shows(shell, "kept-6", { cursor: before.next_cursor });
    await at.sdk.closeShell(id, shell);
  });

  it("plain of a full-screen program is the screen as a person sees it, and the text again when it ends", async () => {
    const shell = await open({ cols: 40, rows: 8 });
    await type(shell, "echo on the main screen");
    await shows(shell, "main screen");
    const screen =
      "\\033[?1049h\\033[2J\\033[1;1Htop line\\033[3;5Hin the middle\\033[8;1H\\033[7mstatus\\033[0m\\033[1;1HTOP";
    await type(shell, `clear; printf '${screen}'; read -r line; printf '\\033[?1049l'; echo back`);
    // "TOP line" is nowhere in what is typed: only the screen has it.
    const seen = await shows(shell, "TOP line", { plain: true });
    const lines = seen.split("\n").map((line) => line.trimEnd());
    expect(lines).toContain("TOP line");
    expect(lines).toContain("    in the middle");
    expect(lines).toContain("status");
    expect(seen).not.toContain("\u001b");
    expect(seen, "what it covers is not seen").not.toContain("main screen");
    await type(shell, "go");
    const after = await shows(shell, "back", { plain: true });
    expect(after).not.toContain("in the middle");
    await at.sdk.closeShell(id, shell);
  });

  it("are gone after a reset and a stop", async () => {
    const own = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
    const first = (await at.sdk.openShell(own)).shell_id;
    await at.sdk.resetWorkspace(own);
    await expect(at.sdk.readShell(own, first)).rejects.toThrow(failing("SHELL_NOT_FOUND"));
    const second = (await at.sdk.openShell(own)).shell_id;
    const waiting = at.sdk.readShell(own, second, { wait_for_idle_ms: 20_000 });
    waiting.catch(() => undefined);
    await at.sdk.stopWorkspace(own);
    // Which of the two calls comes first is chance.
    await expect(waiting).rejects.toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^(SANDBOX_LOST|WORKSPACE_NOT_RUNNING)$/) as string,
        message: expect.stringContaining("stopped") as string,
      }) as Error,
    );
    await at.sdk.startWorkspace(own);
    await expect(at.sdk.readShell(own, second)).rejects.toThrow(failing("SHELL_NOT_FOUND"));
    await at.sdk.deleteWorkspace(own);
  });
});
