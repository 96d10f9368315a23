import assert from "node:assert/strict";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isClocheError } from "../base/errors.ts";
import type { ExecResult } from "../model/exec.ts";
import type { BackendHealth } from "../model/health.ts";
import type { Cloche } from "../sdk/cloche.ts";
import type { CreateOptions, ExecOptions } from "../sdk/options.ts";
import type { ParityTarget } from "./target.ts";

/** The project that workspaces start from. */
const PROJECT: Readonly<Record<string, string>> = {
  "README.md": "# A project\n",
  "src/main.txt": "one\ntwo\nthree\n",
  "src/other.txt": "other\n",
  "run.sh": "echo ran\n",
};
const PATIENCE_MS = 30_000;
const PAUSE_MS = 25;

/** What a scenario works with. Everything that it makes is deleted after it. */
export class ParityContext {
  readonly target: ParityTarget;
  readonly health: BackendHealth;
  /** The folder of the project that workspaces are seeded from. */
  readonly project: string;
  readonly #shared: Map<string, Promise<string>>;
  readonly #topic: string;
  readonly #made: string[] = [];

  constructor(target: ParityTarget, health: BackendHealth, topic: string, shared: Map<string, Promise<string>>) {
    this.target = target;
    this.health = health;
    this.project = join(target.folder, "project");
    this.#topic = topic;
    this.#shared = shared;
  }

  get client(): Cloche {
    return this.target.client;
  }

  /** A workspace of the scenario's own, over the project. */
  async create(options: CreateOptions = {}): Promise<string> {
    const { backend, environment } = this.target;
    const made = await this.client.createWorkspace({ backend, environment, seed_path: this.project, ...options });
    this.#made.push(made.workspace_id);
    return made.workspace_id;
  }

  /** A workspace that the scenarios of the topic share: each leaves it as usable as it was. */
  async shared(): Promise<string> {
    const { backend, environment } = this.target;
    const found = this.#shared.get(this.#topic) ?? this.#makeShared(backend, environment);
    this.#shared.set(this.#topic, found);
    return await found;
  }

  /**
   * Looks at what sandboxes have on the host; gives a check that before long they have nothing more. What an earlier scenario was still ending may have gone
   * meanwhile.
   */
  async noteLeftovers(): Promise<() => Promise<void>> {
    const before = new Set(await this.target.leftovers());
    return async () =>
      await this.eventually(async () =>
        assert.deepEqual(
          (await this.target.leftovers()).filter((one) => !before.has(one)),
          [],
          "something is left",
        ),
      );
  }

  /** Has a workspace that was made otherwise deleted too. */
  keep(workspaceId: string): string {
    this.#made.push(workspaceId);
    return workspaceId;
  }

  async sh(workspaceId: string, command: string, options: Omit<ExecOptions, "command"> = {}): Promise<ExecResult> {
    return await this.client.execWorkspace(workspaceId, { command, ...options });
  }

  /** Standard output of a command that has to end well. */
  async out(workspaceId: string, command: string, options: Omit<ExecOptions, "command"> = {}): Promise<string> {
    const result = await this.sh(workspaceId, command, options);
    assert.equal(result.exit_code, 0, `${command}: ${result.stderr}`);
    return result.stdout;
  }

  /** The code with which a call fails. */
  async refusal(call: Promise<unknown>): Promise<string> {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(isClocheError(error), `expected a failure, got ${error instanceof Error ? error.message : "none"}`);
    assert.ok(error.hint.length > 0, "a failure says what to do next");
    return error.code;
  }

  /** A new folder of this host with these files. */
  async folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
    const folder = await mkdtemp(join(this.target.folder, "f-"));
    for (const [name, text] of Object.entries(files)) await writeInto(folder, name, text);
    return folder;
  }

  /** For what no call tells; the last failure counts. */
  async eventually(check: () => Promise<void>): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        await check();
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await sleep(PAUSE_MS);
    }
  }

  /** Kills the daemon as nothing can catch it; the next call starts another. */
  async killDaemon(): Promise<void> {
    const { pid } = await this.client.daemonStatus();
    assert.ok(pid !== null, "there is no daemon to kill");
    process.kill(pid, "SIGKILL");
    await this.eventually(() => {
      assert.throws(() => process.kill(pid, 0));
      return Promise.resolve();
    });
  }

  /** Deletes what the scenario made. */
  async close(): Promise<void> {
    for (const id of this.#made) {
      await this.client.deleteWorkspace(id).catch((error: unknown) => {
        if (!isClocheError(error) || error.code !== "WORKSPACE_NOT_FOUND") throw error;
      });
    }
  }

  async #makeShared(backend: string, environment: string): Promise<string> {
    const made = await this.client.createWorkspace({ backend, environment, seed_path: this.project });
    return made.workspace_id;
  }
}

/** Writes the project that workspaces start from. */
export async function writeProject(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(PROJECT)) await writeInto(join(folder, "project"), name, text);
}

async function writeInto(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
