import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../src/base/remove-tree.ts";
import { type CliResult, runProcess } from "./installation.ts";

/** Another user of the machine, who is not the one that runs cloche. Belongs to nobody. */
export const LOCAL_USER = 54_322;

/** Runs a program as that user, to its end. */
export function asLocalUser(program: string, ...args: string[]): Promise<CliResult> {
  const ids = ["--reuid", String(LOCAL_USER), "--regid", String(LOCAL_USER), "--clear-groups", "--"];
  return runProcess("setpriv", [...ids, program, ...args], { cwd: "/", env: { PATH: process.env["PATH"] } });
}

/** What that user goes on doing, written in Perl, until it is disposed of; for a minute at most. */
export class LocalAttack implements AsyncDisposable {
  readonly #child: ChildProcess;
  #said = "";

  private constructor(program: string, args: readonly string[], cwd: string) {
    this.#child = spawn("perl", ["-e", `$| = 1; alarm 60; ${program}`, ...args], {
      cwd,
      uid: LOCAL_USER,
      gid: LOCAL_USER,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => (this.#said += chunk.toString()));
  }

  /** Resolves when it has said its first word. */
  static async start(program: string, args: readonly string[], cwd = "/"): Promise<LocalAttack> {
    const attack = new LocalAttack(program, args, cwd);
    await attack.says(/./);
    return attack;
  }

  async says(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#said) && this.#child.exitCode === null) {
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), once(this.#child, "close")]);
    }
  }

  get said(): string {
    return this.#said;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "close");
    if (this.#child.exitCode !== null) return;
    this.#child.kill("SIGKILL");
    await closed;
  }
}

/** A folder that everybody can pass, with a folder of the other user's in it. */
export class SharedPlace implements AsyncDisposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "cl-lu-")));
  readonly theirs = join(this.root, "theirs");

  constructor() {
    chmodSync(this.root, 0o755);
    this.make("theirs");
    chownSync(this.theirs, LOCAL_USER, LOCAL_USER);
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  /** A folder of that mode, whatever the umask. */
  make(name: string, mode = 0o755): string {
    mkdirSync(this.path(name), { recursive: true });
    chmodSync(this.path(name), mode);
    return this.path(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.root);
  }
}
