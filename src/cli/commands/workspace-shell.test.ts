import { describe, expect, it } from "vitest";
import { createMemoryIo, type MemoryIo } from "../../../test/helpers/memory-io.ts";
import type { Shell, ShellOutput } from "../../model/shell.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { ShellStream } from "../../sdk/options.ts";
import { runCli } from "../run-cli.ts";

const names = { workspace_id: "ws-1", shell_id: "sh-1" };
const shell: Shell = {
  ...names,
  state: "running",
  cwd: "/workspace",
  cols: 80,
  rows: 24,
  exit_code: null,
  opened_at: 1,
};
const output: ShellOutput = {
  ...names,
  state: "running",
  cursor: 0,
  next_cursor: 12,
  output: "\x1b[31mred\x1b[0m\x1b[2J\r\n",
  plain: false,
  wait_for_idle_ms: null,
  truncated: false,
};

async function call(args: string[], client: Partial<Cloche> = {}, tty = false) {
  const io = createMemoryIo({ client, tty });
  const code = await runCli(["workspace", "shell", ...args], io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

describe("workspace shell", () => {
  it("open prints the id and what to do next, or the id alone", async () => {
    const asked: unknown[] = [];
    const client: Partial<Cloche> = {
      openShell: (id, options) => {
        asked.push([id, options]);
        return Promise.resolve(shell);
      },
    };
    const flags = ["--cwd", "src", "--cols", "91", "--secret-env", "TOKEN=T"];
    expect((await call(["open", "ws-1", ...flags], client)).stdout).toBe(
      "sh-1\nNext: cloche workspace shell attach ws-1 sh-1\n",
    );
    expect((await call(["open", "ws-1", "--id-only"], client)).stdout).toBe("sh-1\n");
    expect(asked[0]).toEqual(["ws-1", { cwd: "src", cols: 91, rows: undefined, secret_env: { TOKEN: "T" } }]);
  });

  it("read gives the output as it is, on a terminal without what could drive it, and says what is missing", async () => {
    const client = (fields: Partial<ShellOutput> = {}): Partial<Cloche> => ({
      readShell: () => Promise.resolve({ ...output, ...fields }),
    });
    expect((await call(["read", "ws-1", "sh-1"], client())).stdout).toBe(output.output);
    const shown = await call(["read", "ws-1", "sh-1"], client(), true);
    expect(shown.stdout).toBe("\x1b[31mred\x1b[0m\\x1b[2J\n");
    const cut = await call(["read", "ws-1", "sh-1"], client({ truncated: true }));
    expect(cut.stderr).toContain("--cursor 12");
    const lost = await call(["read", "ws-1", "sh-1"], client({ truncated: true, cursor: 5, state: "exited" }));
    expect(lost.stderr).toContain("before byte 5");
    expect(lost.stderr).toContain("has ended");
    const json = await call(["read", "ws-1", "sh-1", "--json"], client({ truncated: true }));
    expect(JSON.parse(json.stdout)).toEqual({ ...output, truncated: true });
  });

  it("write types Enter unless told otherwise; signal knows four names; resize needs both sizes", async () => {
    const asked: unknown[] = [];
    const client: Partial<Cloche> = {
      writeShell: (_id, _shell, options) => {
        asked.push(options);
        return Promise.resolve({ ...names, bytes_written: 3 });
      },
      signalShell: (_id, _shell, options) => {
        asked.push(options);
        return Promise.resolve({ ...names, signal: "INT", signalled: true });
      },
    };
    expect((await call(["write", "ws-1", "sh-1", "--input", "ls"], client)).code).toBe(0);
    await call(["write", "ws-1", "sh-1", "--input", "ls", "--no-newline"], client);
    await call(["signal", "ws-1", "sh-1", "--signal", "HUP"], client);
    expect(asked).toEqual([
      { input: "ls", append_newline: true },
      { input: "ls", append_newline: false },
      { signal: "HUP" },
    ]);
    for (const args of [
      ["write", "ws-1", "sh-1"],
      ["signal", "ws-1", "sh-1", "--signal", "WINCH"],
      ["resize", "ws-1", "sh-1", "--cols", "80"],
      ["resize", "ws-1", "sh-1", "--cols", "80", "--rows", "0"],
      ["read", "ws-1", "sh-1", "--cursor", "-1"],
      ["open", "ws-1", "--cols", "1001"],
      ["attach", "ws-1", "sh-1"],
    ])
      expect((await call(args, client)).code, args.join(" ")).toBe(2);
  });
});

/** A shell that repeats what is typed. */
function echoing(end: Partial<Shell> = {}) {
  const log: string[] = [];
  let finish: (result: Shell) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const result = new Promise<Shell>((resolve, reject) => ([finish, fail] = [resolve, reject]));
  result.catch(() => undefined);
  let told: () => void = () => undefined;
  const waiting: Buffer[] = [Buffer.from("\x1b[?1049h$ ")];
  let over = false;
  const stop = () => {
    over = true;
    told();
  };
  const stream: ShellStream = {
    result,
    async *output() {
      while (!over || waiting.length > 0) {
        const next = waiting.shift();
        if (next) yield next;
        else await new Promise<void>((resolve) => (told = resolve));
      }
    },
    write(data) {
      log.push(Buffer.from(data).toString());
      waiting.push(Buffer.from(data));
      told();
      return Promise.resolve();
    },
    resize: () => Promise.resolve(),
    endInput() {
      log.push("end");
      stop();
      finish({ ...shell, ...end });
    },
    detach: () => result,
    close() {
      stop();
      fail(new Error("closed"));
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { stream, log };
}

function terminal(stream: ShellStream): { io: MemoryIo; raw: boolean[] } {
  const io = createMemoryIo({ tty: true, client: { attachShell: () => stream } });
  const raw: boolean[] = [];
  Object.assign(io.stdin, { isTTY: true, setRawMode: (on: boolean) => raw.push(on) });
  return { io, raw };
}

describe("workspace shell attach", () => {
  const args = ["workspace", "shell", "attach", "ws-1", "sh-1"];

  it("passes keys on until Ctrl-], leaves the shell running and the terminal as it was", async () => {
    const { stream, log } = echoing();
    const { io, raw } = terminal(stream);
    io.stdin.write("ls\r\x03");
    io.stdin.write("x\x1dnot this");
    expect(await runCli(args, io)).toBe(0);
    expect(log).toEqual(["ls\r\x03x", "end"]);
    expect(io.stdout.text).toContain("\x1b[?1049h$ ls\r\x03x\x1b[?1049l\x0f\x1b(B\x1b>\x1b[0m");
    expect([raw[0], raw.at(-1)]).toEqual([true, false]);
    expect(io.stderr.text).toMatch(/Ctrl-\] detaches[^]*Detached from sh-1/);
  });

  it("ends with the shell's exit code", async () => {
    const { stream } = echoing({ state: "exited", exit_code: 3 });
    const { io, raw } = terminal(stream);
    io.stdin.end("exit 3\r");
    expect(await runCli(args, io)).toBe(3);
    expect(raw.at(-1)).toBe(false);
  });

  it("brings the terminal back when a signal or an error ends it", async () => {
    const { stream } = echoing();
    const { io, raw } = terminal(stream);
    const running = runCli(args, io);
    await new Promise((resolve) => setImmediate(resolve));
    io.send("HUP");
    const code = await running;
    expect(code).toBe(129);
    expect(raw.at(-1)).toBe(false);
    expect(io.stdout.text).toContain("\x1b[0m");
  });
});
