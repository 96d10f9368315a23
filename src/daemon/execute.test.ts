import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type BundledProgram, bundleProgram } from "../../test/helpers/bundled-program.ts";
import { openSocketAddress } from "../base/unix-path.ts";

// These start processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let program: BundledProgram;
let home: string;
let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  program = await bundleProgram("test/fixtures/scripted-daemon.ts");
});
afterAll(() => program.remove());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-daemon-"));
  home = join(folder, "home");
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  rmSync(folder, { recursive: true });
});

function start(...args: string[]): ChildProcess {
  const all = [program.entry, "--home", home, "--cache", join(folder, "cache"), ...args];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  return child;
}

/** All that it says on stdout until it is ready or ends. */
async function said(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text === "ready\n") break;
  }
  return text;
}

const exitCode = async (child: ChildProcess): Promise<number | null> =>
  child.exitCode ?? ((await once(child, "exit")) as [number | null])[0];

const socket = () => join(home, "daemon.sock");
const notes = () => readFileSync(join(home, "notes"), "utf8").trim().split("\n");

it("says ready when it listens, for the user alone", async () => {
  const child = start();
  expect(await said(child)).toBe("ready\n");
  expect(statSync(home).mode & 0o777).toBe(0o700);
  for (const name of ["daemon.sock", "daemon.log", "store.sqlite"]) {
    expect([name, (statSync(join(home, name)).mode & 0o777).toString(8)]).toEqual([name, "600"]);
  }
  const connection = connect(socket());
  await once(connection, "connect");
  connection.destroy();
});

it("closes a home that others could look into", async () => {
  mkdirSync(home, { mode: 0o755 });
  await said(start());
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

it("exits 75 while another one holds the home, and disturbs nothing", async () => {
  await said(start());
  const second = start();
  expect(await exitCode(second)).toBe(75);
  const connection = connect(socket());
  await once(connection, "connect");
  connection.destroy();
});

it("takes over after kill -9, over the socket that was left", async () => {
  const first = start();
  await said(first);
  first.kill("SIGKILL");
  await once(first, "exit");
  expect(existsSync(socket())).toBe(true);
  const second = start();
  expect(await said(second)).toBe("ready\n");
  expect(notes()).toEqual([`recover ${first.pid}`, `recover ${second.pid}`]);
});

it.each(["SIGTERM", "SIGINT"] as const)("ends cleanly on %s", async (signal) => {
  const child = start();
  await said(child);
  child.kill(signal);
  expect(await exitCode(child)).toBe(0);
  expect(existsSync(socket())).toBe(false);
  expect(notes().at(-1)).toBe("close");
  expect(await said(start())).toBe("ready\n");
});

it("ends by itself when idle, but not while there is work to hold", async () => {
  mkdirSync(home, { mode: 0o700 });
  const idle = start("--idle-seconds", "0.2");
  await said(idle);
  expect(await exitCode(idle)).toBe(0);
  expect(existsSync(socket())).toBe(false);

  writeFileSync(join(home, "hold"), "");
  const holding = start("--idle-seconds", "0.05");
  await said(holding);
  const ended = await Promise.race([
    once(holding, "exit").then(() => "ended"),
    new Promise((resolve) => setTimeout(resolve, 500, "stayed")),
  ]);
  expect(ended).toBe("stayed");
});

it("says why it cannot start, in one line", async () => {
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, "store.sqlite"), "no database\n".repeat(500));
  const child = start();
  const document = JSON.parse(await said(child)) as { error: { hint: string } };
  expect(document).toMatchObject({
    error: { code: "INTERNAL", hint: expect.stringContaining("store.sqlite") as string },
  });
  expect(await exitCode(child)).toBe(1);
});

it("refuses options that it does not know", async () => {
  expect(JSON.parse(await said(start("--idle-seconds", "-1")))).toMatchObject({ error: { code: "USAGE" } });
  expect(JSON.parse(await said(start("--what")))).toMatchObject({ error: { code: "USAGE" } });
});

it("listens in a home whose path is too long for a socket", async () => {
  home = join(folder, "h".repeat(150));
  const child = start();
  expect(await said(child)).toBe("ready\n");
  const address = openSocketAddress(socket());
  const connection = connect(address.path);
  await once(connection, "connect");
  connection.destroy();
  address.release();
  child.kill("SIGTERM");
  expect(await exitCode(child)).toBe(0);
  expect(existsSync(socket())).toBe(false);
});
