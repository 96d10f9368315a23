import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { mountsBelow, removeTree } from "../../src/base/remove-tree.ts";
import { Cloche } from "../../src/sdk/cloche.ts";

export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(PROJECT, "dist/cli/main.js");

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  /** The same as it came. */
  readonly bytes: Buffer;
  readonly stderr: string;
  readonly json: () => Record<string, unknown>;
}

/** One installation: a `$CLOCHE_HOME` of its own, a folder for fixtures, the built CLI and the SDK. */
export class Installation implements AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly sdk: Cloche;

  constructor(label = "t", env: NodeJS.ProcessEnv = {}) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), `cl-${label}-`)));
    this.home = join(this.root, "h");
    mkdirSync(this.home, { mode: 0o700 });
    this.env = { ...process.env, CLOCHE_HOME: this.home, ...env };
    for (const name of ["FORCE_COLOR", "CLOCHE_BACKEND", "CLOCHE_OCI_RUNTIME"])
      if (!(name in env)) Reflect.deleteProperty(this.env, name);
    this.sdk = new Cloche({ home: this.home, env: this.env });
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  async cli(
    args: readonly string[],
    options: { input?: string | Buffer; env?: NodeJS.ProcessEnv; cwd?: string } = {},
  ): Promise<CliResult> {
    return await runProcess(process.execPath, [PROGRAM, ...args], { ...options, env: { ...this.env, ...options.env } });
  }

  /** Deletes what is left, stops the daemon and asserts that no process, mount, cgroup or file stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { workspace_id: id } of (await this.sdk.listWorkspaces()).workspaces) await this.sdk.deleteWorkspace(id);
    await this.sdk.stopDaemon();
    await this.sdk.close();
    await eventually(() => expect(processesNaming(this.root), "processes that name the installation").toEqual([]));
    expect(
      mountsBelow(this.root, readFileSync("/proc/self/mountinfo", "utf8")),
      "mounts below the installation",
    ).toEqual([]);
    const workspaces = join(this.home, "workspaces");
    expect(existsSync(workspaces) ? readdirSync(workspaces) : [], "workspace folders").toEqual([]);
    await removeTree(this.root);
  }
}

export function runProcess(
  file: string,
  args: readonly string[],
  options: { input?: string | Buffer; env?: NodeJS.ProcessEnv; cwd?: string; timeoutMs?: number } = {},
): Promise<CliResult> {
  return new Promise((done, fail) => {
    const child = spawn(file, args, {
      cwd: options.cwd ?? PROJECT,
      env: options.env ?? process.env,
      stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      timeout: options.timeoutMs ?? 60_000,
      killSignal: "SIGKILL",
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin?.on("error", () => undefined).end(options.input);
    child.once("error", fail);
    child.once("close", (code) => {
      const bytes = Buffer.concat(out);
      const stdout = bytes.toString();
      done({
        code,
        stdout,
        bytes,
        stderr: Buffer.concat(err).toString(),
        json: () => JSON.parse(stdout) as Record<string, unknown>,
      });
    });
  });
}

/** Command lines of processes that contain the text. */
export function processesNaming(text: string): string[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return line.includes(text) ? [`${name} ${line}`] : [];
    } catch {
      return []; // ended meanwhile
    }
  });
}

/** Retries a check of something outside our control that no event tells, such as a process table. The limit is against hanging. */
export async function eventually(check: () => void | Promise<void>, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

/** Runs a test body in an installation of its own. */
export async function withInstallation(
  body: (at: Installation) => Promise<void>,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const at = new Installation("t", env);
  let failed: unknown;
  try {
    await body(at);
  } catch (error) {
    failed = error;
  }
  try {
    await at[Symbol.asyncDispose]();
  } catch (error) {
    if (failed === undefined) throw error; // the test's own failure says more
  }
  if (failed !== undefined) throw failed as Error;
}
