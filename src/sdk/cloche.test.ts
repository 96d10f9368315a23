import { once } from "node:events";
import { spawn } from "node:child_process";
import { existsSync, lchownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type BundledProgram, bundleProgram } from "../../test/helpers/bundled-program.ts";
import { transpileProgram, type TranspiledProgram } from "../../test/helpers/transpile-program.ts";
import { isClocheError } from "../base/errors.ts";
import { Cloche } from "./cloche.ts";
import type { OutputChunk } from "./options.ts";

// Each starts processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let program: BundledProgram;
let own: TranspiledProgram;
let folder: string;
let home: string;
let sdk: Cloche;
const clients: Cloche[] = [];

beforeAll(async () => {
  program = await bundleProgram("test/fixtures/scripted-daemon.ts");
  own = transpileProgram("src/sdk/cloche.ts");
});
afterAll(() => {
  program.remove();
  own.remove();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-sdk-"));
  home = join(folder, "home");
  sdk = client();
});
afterEach(async () => {
  await sdk.stopDaemon();
  for (const one of clients.splice(0)) await one.close();
  rmSync(folder, { recursive: true });
});

function client(env: Record<string, string> = {}): Cloche {
  const places = { home, cache: join(folder, "cache") };
  const made = new Cloche({ ...places, env: { PATH: process.env["PATH"], ...env }, daemonProgram: program.entry });
  clients.push(made);
  return made;
}

const notes = (): string[] => {
  const file = join(home, "notes");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};
const count = (start: string): number => notes().filter((line) => line.startsWith(start)).length;

async function noted(line: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!notes().includes(line)) {
    if (Date.now() > deadline) throw new Error(`never noted: ${line}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function kill(): Promise<void> {
  const { pid } = await sdk.daemonStatus();
  process.kill(pid!, "SIGKILL");
}

const collect = async (chunks: AsyncIterable<OutputChunk>): Promise<Record<string, string>> => {
  const texts = { stdout: "", stderr: "" };
  for await (const { channel, data } of chunks) texts[channel] += data.toString("utf8");
  return texts;
};

describe("the daemon", () => {
  it("is started by what needs it, and not by asking how it is", async () => {
    const none = {
      running: false,
      pid: null,
      version: null,
      mcp_url: null,
      mcp_token: null,
      started_at: null,
      workspace_count: null,
    };
    expect(await sdk.daemonStatus()).toEqual({ ...none, socket: join(home, "daemon.sock") });
    expect(await sdk.stopDaemon()).toEqual({ stopped: false });
    expect(existsSync(home)).toBe(false);

    expect(await sdk.listWorkspaces()).toEqual({ count: 0, workspaces: [] });
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(await sdk.daemonStatus()).toMatchObject({ running: true, workspace_count: 0 });
    expect(await sdk.stopDaemon()).toEqual({ stopped: true });
    expect(await sdk.daemonStatus()).toEqual({ ...none, socket: join(home, "daemon.sock") });
  });

  it("is one, however many start it at once", async () => {
    await Promise.all(Array.from({ length: 5 }, () => client().listWorkspaces()));
    expect(count("recover")).toBe(1);
  });

  it("is started again after kill -9, at once by a call on an old connection", async () => {
    await sdk.listWorkspaces();
    await kill();
    await sdk.createWorkspace({ name: "after" });
    expect(count("create")).toBe(1);
    expect(count("recover")).toBe(2);
  });

  it("can be started as soon as stop has returned", async () => {
    for (let round = 1; round <= 3; round++) {
      await sdk.listWorkspaces();
      expect(await sdk.stopDaemon()).toEqual({ stopped: true });
      expect(count("recover")).toBe(round);
    }
  });

  it("that cannot start says why", async () => {
    await sdk.listWorkspaces();
    await sdk.stopDaemon();
    writeFileSync(join(home, "store.sqlite"), "no database\n".repeat(500));
    await expect(sdk.listWorkspaces()).rejects.toMatchObject({
      code: "INTERNAL",
      hint: expect.stringContaining("Move") as string,
    });
  });

  it("that is missing, or a home that cannot be, is told", async () => {
    const missing = new Cloche({ home, env: {}, daemonProgram: join(folder, "missing.js") });
    await expect(missing.listWorkspaces()).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
    expect(statSync(home).mode & 0o777, "G-14 closed to others before there is a daemon").toBe(0o700);
    writeFileSync(join(folder, "file"), "");
    const nowhere = new Cloche({ home: join(folder, "file", "home"), env: {}, daemonProgram: program.entry });
    await expect(nowhere.listWorkspaces()).rejects.toMatchObject({
      hint: expect.stringContaining("CLOCHE_HOME") as string,
    });
  });

  it("is reached in a home whose path is too long for a socket", async () => {
    home = join(folder, "h".repeat(150));
    sdk = client();
    expect(await sdk.listWorkspaces()).toEqual({ count: 0, workspaces: [] });
    expect(await sdk.stopDaemon()).toEqual({ stopped: true });
  });
});

describe("calls", () => {
  it("report progress, and add what only this process knows", async () => {
    const steps: unknown[] = [];
    const own = client({ CLOCHE_BACKEND: "container", CLOCHE_OCI_RUNTIME: "runsc" });
    const options = { seed_path: "some/folder", onProgress: (progress: unknown) => steps.push(progress) };
    const { workspace_id } = await own.createWorkspace(options);
    expect(workspace_id).toBe("ws-0123456789");
    expect(steps).toEqual([{ step: "first", fraction: 0.5 }, { step: "second" }]);
    await own.createWorkspace({ backend: "other" });
    const inputs = notes()
      .filter((line) => line.startsWith("create "))
      .map((line) => JSON.parse(line.slice(7)) as object);
    expect(inputs).toEqual([
      { backend: "container", oci_runtime: "runsc", seed_path: resolve("some/folder") },
      { backend: "other", oci_runtime: "runsc" },
    ]);
  });

  it("that fail throw the error of the wire", async () => {
    const error: unknown = await sdk.statusWorkspace("ws-x").catch((reason: unknown) => reason);
    expect(isClocheError(error)).toBe(true);
    expect(error).toMatchObject({
      code: "WORKSPACE_NOT_FOUND",
      hint: expect.stringMatching("list") as string,
      details: { a: 1 },
    });
    await expect(sdk.execWorkspace("ws-x", { command: "throw" })).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(sdk.execWorkspace("", { command: "x" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("are ended by their signal, there too", async () => {
    const abort = new AbortController();
    const call = sdk.execWorkspace("ws-x", { command: "hang", signal: abort.signal });
    const cancelled = expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await noted("exec hang");
    abort.abort();
    await cancelled;
    await noted("exec aborted");
    await expect(sdk.listWorkspaces({ signal: abort.signal })).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(sdk.daemonStatus({ signal: abort.signal })).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("that could have happened are never repeated; those that may be, are", async () => {
    await expect(sdk.execWorkspace("ws-x", { command: "die" })).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
    expect(count("exec die")).toBe(1);
    writeFileSync(join(home, "die-on-list"), "");
    expect(await sdk.listWorkspaces()).toEqual({ count: 0, workspaces: [] });
    expect(existsSync(join(home, "died-on-list"))).toBe(true);
  });

  it("do not go on after close", async () => {
    const call = sdk.execWorkspace("ws-x", { command: "hang" });
    const cancelled = expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await noted("exec hang");
    await sdk.close();
    await cancelled;
    await expect(sdk.listWorkspaces()).rejects.toMatchObject({ code: "CANCELLED" });
    await noted("exec aborted");
    sdk = client();
  });
});

describe("streams", () => {
  it("give text in whole characters, and the exit last", async () => {
    const events = [];
    for await (const event of sdk.streamWorkspace("ws-x", { command: "split" })) events.push(event);
    const text = events.map((event) => (event.type === "stdout" ? event.data : "")).join("");
    expect(text).toBe("a€b");
    expect(events.at(-2)).toEqual({ type: "stderr", data: "\ufffd" });
    expect(events.at(-1)).toMatchObject({ type: "exit", exit_code: 0, command: "split" });
  });

  it("end the command when the loop is left", async () => {
    for await (const event of sdk.streamWorkspace("ws-x", { command: "hang" })) {
      expect(event).toEqual({ type: "stdout", data: "here" });
      break;
    }
    await noted("stream aborted");
  });

  it("pass standard input as it comes", async () => {
    const stream = sdk.openCommand("ws-x", { command: "cat", stdin: true });
    expect(await stream.sequence).toBe(7);
    const output = stream.output()[Symbol.asyncIterator]();
    await stream.write("one");
    expect((await output.next()).value).toEqual({ channel: "stdout", data: Buffer.from("one") });
    await stream.write(Buffer.from([0, 255]));
    expect((await output.next()).value).toEqual({ channel: "stdout", data: Buffer.from([0, 255]) });
    stream.endInput();
    stream.endInput();
    expect(await output.next()).toMatchObject({ done: true });
    expect(await stream.result).toMatchObject({ exit_code: 0 });
    await stream.write("too late");
  });

  it("refuse input that was not asked for, and pass signals on", async () => {
    await using stream = sdk.openCommand("ws-x", { command: "hang" });
    await expect(stream.write("x")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await stream.signal("INT");
    expect(notes()).toContain("signal INT");
  });

  it("that are refused reject what they promised, and their output ends", async () => {
    const stream = sdk.openCommand("ws-x", { command: "refuse", stdin: true });
    await expect(stream.result).rejects.toMatchObject({ code: "WORKSPACE_NOT_RUNNING" });
    await expect(stream.sequence).rejects.toMatchObject({ code: "WORKSPACE_NOT_RUNNING" });
    expect(await collect(stream.output())).toEqual({ stdout: "", stderr: "" });
  });

  it("hold the command up while nobody reads, and lose nothing", async () => {
    const stream = sdk.openCommand("ws-x", { command: "flood" });
    await stream.sequence;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(notes()).not.toContain("flood over");
    let bytes = 0;
    for await (const { data } of stream.output()) bytes += data.length;
    expect(bytes).toBe(256 * 65536);
    await stream.result;
  });

  it("go on with the next daemon after kill -9, with nothing lost or doubled", async () => {
    const stream = sdk.openCommand("ws-x", { command: "die", stdin: true });
    await stream.write("sent once");
    expect(await collect(stream.output())).toEqual({ stdout: "one two three four", stderr: "err" });
    expect(await stream.result).toMatchObject({ sequence: 7, stdout: "one two three four" });
    expect(notes()).toContain("attach 7 7 3");
    expect(count("recover")).toBe(2);
    await expect(stream.write("more")).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  });

  it("that may or may not have begun when the daemon died are not repeated", async () => {
    const stream = sdk.openCommand("ws-x", { command: "die-unstarted" });
    await expect(stream.result).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE" });
  });

  it("are ended by their signal while the reader is slow", async () => {
    const abort = new AbortController();
    const stream = sdk.openCommand("ws-x", { command: "flood", signal: abort.signal });
    await stream.sequence;
    abort.abort();
    await expect(stream.result).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

describe("run", () => {
  it("creates, runs and deletes", async () => {
    const result = await sdk.run({ command: "echo", environment: "host", cwd: "/workspace" });
    expect(result).toMatchObject({ workspace_id: "ws-0123456789", stdout: "out" });
    expect(notes().slice(-2)).toEqual(["exec echo", "delete ws-0123456789"]);
  });

  it("deletes also when the caller aborts", async () => {
    const abort = new AbortController();
    const call = sdk.run({ command: "hang", signal: abort.signal });
    const cancelled = expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await noted("exec hang");
    abort.abort();
    await cancelled;
    expect(notes()).toContain("delete ws-0123456789");
  });

  it("streams, and its result comes after the delete", async () => {
    const stream = await sdk.openRun({ command: "cat", stdin: true });
    await stream.write("hello");
    stream.endInput();
    expect(await collect(stream.output())).toEqual({ stdout: "hello", stderr: "" });
    await stream.result;
    expect(notes().at(-1)).toBe("delete ws-0123456789");
  });
});

it("loads nothing but itself and Node's own modules", () => {
  expect([...own.modules].filter((name) => !name.startsWith("node:"))).toEqual([]);
  expect(own.sources.length).toBeLessThan(75); // the handles and runs, which come on demand, among them
});

it("does not keep its process from ending", async () => {
  await sdk.listWorkspaces();
  const script = `import { Cloche } from ${JSON.stringify(own.entry)};
    await new Cloche({ home: ${JSON.stringify(home)} }).listWorkspaces();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  expect(await once(child, "exit")).toEqual([0, null]);
});

it.skipIf(process.getuid?.() !== 0)("does not talk to a socket of another user", async () => {
  await sdk.listWorkspaces();
  lchownSync(join(home, "daemon.sock"), 4321, 4321);
  await expect(client().listWorkspaces()).rejects.toThrow("it belongs to another user");
  lchownSync(join(home, "daemon.sock"), 0, 0);
});
