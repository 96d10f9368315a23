import xterm from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { openLocalCommand } from "../../test/helpers/local-command.ts";
import { createMemoryIo } from "../../test/helpers/memory-io.ts";
import { failure } from "../model/error-codes.ts";
import type { Cloche } from "../sdk/cloche.ts";
import type { OpenCommandOptions } from "../sdk/options.ts";
import { runCli } from "./run-cli.ts";

/** Hides what follows, moves, answers, retitles, reorders, and switches nearly everything that can be. */
const HOSTILE =
  "\u001B[8mhid\u001B]0;title\u0007\u001B[6n\u001B[?1049h\u001B[2J\u009B8m\u202Egpj\u200B\rover\u000E\u001B(0lqk\u001B[41;5mend";
const place = { workspace_id: "ws-1", path: "/workspace/a", offset: 0, next_offset: null };
const count = { added: 1, modified: 0, deleted: 0, renamed: 0, type_changed: 0, total: 1 };
const entry = { path: HOSTILE, artifact_type: "symlink", size_bytes: 1, link_target: HOSTILE };
const journal = { command: HOSTILE, stdout: HOSTILE, stderr: HOSTILE, stdout_truncated: true, stderr_truncated: false };

/** What a daemon could answer, with everything of it that a sandbox may have chosen. */
const client = {
  logsWorkspace: () =>
    Promise.resolve({ entries: [{ ...journal, state: "done", exit_code: 1, duration_ms: 1, timed_out: false }] }),
  logsService: () => Promise.resolve({ stdout: HOSTILE, stderr: HOSTILE, truncated: false }),
  readShell: () => Promise.resolve({ output: HOSTILE, cursor: 0, next_cursor: 9, truncated: false, state: "running" }),
  readWorkspaceFile: () => Promise.resolve({ ...place, content: HOSTILE, size_bytes: 9, truncated: false }),
  listWorkspaceFiles: () => Promise.resolve({ ...place, recursive: false, entries: [entry] }),
  diffWorkspace: () =>
    Promise.resolve({
      changed: true,
      summary: count,
      entries: [{ path: HOSTILE, status: "added", artifact_type: "file", size_bytes: 1 }],
      patch: `diff --git a/${HOSTILE}\n+${HOSTILE}\n`,
    }),
  exportWorkspace: () =>
    Promise.resolve({ ...place, workspace_path: HOSTILE, output_path: "x", artifact_type: "file" }),
  // names are checked by the daemon; the last look holds also where they were not
  resetWorkspace: () => Promise.resolve({ workspace_id: "ws-1", workspace_reset: { snapshot_name: HOSTILE } }),
  deleteWorkspace: () =>
    Promise.reject(failure("FILE_FAILED", `Cannot remove: ${HOSTILE}:\n${HOSTILE}`, { hint: HOSTILE })),
} as unknown as Partial<Cloche>;

async function screenAfter(text: string) {
  const terminal = new xterm.Terminal({
    cols: 200,
    rows: 50,
    convertEol: true,
    allowProposedApi: true,
    logLevel: "off",
  });
  let answers = "";
  let title = "";
  terminal.onData((data) => (answers += data));
  terminal.onTitleChange((now) => (title = now));
  await new Promise<void>((done) => terminal.write(`${text}\r\n`, done));
  const { active } = terminal.buffer;
  const row = active.baseY + active.cursorY;
  await new Promise<void>((done) => terminal.write("q", done));
  const cell = active.getLine(row)?.getCell(0);
  const seen = Array.from({ length: active.length }, (_, at) => {
    const line = active.getLine(at);
    const cells = Array.from({ length: 200 }, (_at, column) => line?.getCell(column));
    return cells.map((one) => (one?.isInvisible() ? "" : (one?.getChars() ?? ""))).join("");
  }).join("\n");
  terminal.dispose();
  return {
    answers,
    title,
    kind: active.type,
    next: cell?.getChars(),
    plain: cell?.isAttributeDefault() === true,
    seen,
  };
}

const UNTOUCHED = { answers: "", title: "", kind: "normal", next: "q", plain: true };

describe("G-27 what a sandbox printed or named, on the user's terminal", () => {
  it.each([
    ["workspace logs ws-1"],
    ["workspace service logs ws-1 web"],
    ["workspace shell read ws-1 sh-12345678"],
    ["workspace file read ws-1 a"],
    ["workspace file read ws-1 a --content-only"],
    ["workspace file list ws-1"],
    ["workspace diff ws-1"],
    ["workspace export ws-1 a --output x"],
    ["workspace reset ws-1"],
    ["workspace delete ws-1"],
    ["workspace logs ws-1 --json"],
    ["workspace delete ws-1 --json"],
  ])("cloche %s", async (line) => {
    const io = createMemoryIo({ tty: true, client, env: { TERM: "xterm" } });
    await runCli(line.split(" "), io);
    for (const output of [io.stdout.text, io.stderr.text]) expect(await screenAfter(output)).toMatchObject(UNTOUCHED);
    const both = io.stdout.text + io.stderr.text;
    expect((await screenAfter(both)).seen).toContain("hid");
    expect(both).not.toMatch(/[\u0080-\u009F\u200B\u202E]/);
  });

  it.each([["workspace exec ws-1 --"], ["workspace exec ws-1 --tty --"]])(
    "cloche %s CMD: the terminal is the command's while it runs, and as before when it has ended",
    async (line) => {
      const openCommand = (id: string, options: OpenCommandOptions) =>
        openLocalCommand(id, { ...options, pty: undefined });
      const io = createMemoryIo({ tty: true, client: { openCommand } });
      Object.assign(io.stdin, { isTTY: true, setRawMode: () => undefined });
      const program = String.raw`printf '\033[8m\033[41;5m\033[?1049h\033[?25l\033(0\016\033[2;5r\033[?2004h\033='`;
      expect(await runCli([...line.split(" "), "sh", "-c", program], io)).toBe(0);
      expect(io.stdout.text).toContain("\u001B[8m");
      expect(await screenAfter(io.stdout.text)).toMatchObject(UNTOUCHED);
    },
  );
});
