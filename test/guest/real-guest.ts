import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GuestClient, type SpawnSpec } from "../../src/guest/client.ts";
import type { GuestExit, GuestProcess } from "../../src/guest/process.ts";
import { guestProgram } from "../../src/walls/guest-program.ts";

/** Another build of it, such as the one with sanitizers, can be named by CLOCHE_TEST_GUEST. */
const PROGRAM = process.env["CLOCHE_TEST_GUEST"] ?? guestProgram();
export const AGENT = { uid: 1000, gid: 1000 };
const DEADLINE_MS = 30_000;

/** Mounts the workspace's layers, then becomes the guest program. What follows the first three words are layers, bottom first. */
const SCRIPT = `set -e
kind=$1 at=$2 program=$3
shift 3
if [ "$kind" = layers ]; then
  lower=$at/baseline options=
  for layer in "$@"; do lower=$layer:$lower options="$options --layer $layer"; done
  mount -t overlay overlay -o "lowerdir=$lower,upperdir=$at/layer/upper,workdir=$at/layer/work,userxattr" "$at/workspace"
  exec "$program" init --socket "$at/socket" --workspace "$at/workspace" --upper "$at/layer/upper" --baseline "$at/baseline" $options
fi
exec "$program" init --socket "$at/socket" --workspace "$at/workspace"`;

/** The guest program as first process of its own pid, mount and network namespace, without the rest of a wall. Needs root. */
export class RealGuest implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "cloche-guest-test-"));
  readonly workspace = join(this.directory, "workspace");
  readonly baseline = join(this.directory, "baseline");
  readonly #layers: string[] = [];
  #child: ChildProcess | undefined;
  #clients: GuestClient[] = [];

  /** `prepare` fills `baseline` (with layers) or `workspace` before the start. */
  static async start(layers = false, prepare?: (guest: RealGuest) => void): Promise<RealGuest> {
    const guest = new RealGuest();
    chmodSync(guest.directory, 0o755);
    const folders = ["workspace", "baseline", "layer", "layer/upper", "layer/work"];
    for (const folder of folders) {
      mkdirSync(join(guest.directory, folder));
      chownSync(join(guest.directory, folder), AGENT.uid, AGENT.gid);
    }
    prepare?.(guest);
    await guest.#launch(layers ? "layers" : "plain");
    return guest;
  }

  /** Ends the sandbox; another starts over what it has written so far, which becomes a layer of its own. */
  async freeze(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.close();
    await this.kill();
    const layer = join(this.directory, `frozen-${this.#layers.length}`);
    renameSync(join(this.directory, "layer/upper"), layer);
    this.#layers.push(layer);
    // the work folder belongs to the upper that was mounted with it
    rmSync(join(this.directory, "layer/work"), { recursive: true });
    for (const folder of ["layer/upper", "layer/work"]) {
      mkdirSync(join(this.directory, folder));
      chownSync(join(this.directory, folder), AGENT.uid, AGENT.gid);
    }
    rmSync(join(this.directory, "socket"), { force: true });
    await this.#launch("layers");
  }

  async #launch(kind: "layers" | "plain"): Promise<void> {
    const argv = ["--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--propagation", "private"];
    const script = ["sh", "-c", SCRIPT, "sh", kind, this.directory, PROGRAM, ...this.#layers];
    this.#child = spawn("unshare", [...argv, ...script], { stdio: ["ignore", "inherit", "inherit"] });
    (await this.socket()).destroy();
  }

  /** A new socket to the guest, as soon as it listens. */
  async socket(): Promise<Socket> {
    const until = Date.now() + DEADLINE_MS;
    for (;;) {
      const socket = connect(join(this.directory, "socket"));
      try {
        await once(socket, "connect");
        return socket;
      } catch (error) {
        if (Date.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }

  async client(): Promise<GuestClient> {
    const client = await GuestClient.connect(await this.socket());
    this.#clients.push(client);
    return client;
  }

  /** Ends the guest program and with it everything in its namespace. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.kill();
    // its mounts were in its own namespace; a removal must not go through one that is not
    if (readFileSync("/proc/self/mountinfo", "utf8").includes(this.directory)) {
      throw new Error(`Something is still mounted below ${this.directory}`);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function command(argv: readonly string[], fields: Partial<SpawnSpec> = {}): SpawnSpec {
  return { argv, env: { PATH: "/usr/bin:/bin" }, cwd: "/", user: AGENT, ...fields };
}

export interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: GuestExit;
}

export async function collect(process: GuestProcess): Promise<Result> {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  for await (const { channel, data } of process.output()) parts[channel].push(data);
  const [stdout, stderr] = [parts.stdout, parts.stderr].map((list) => Buffer.concat(list).toString("utf8"));
  return { stdout: stdout ?? "", stderr: stderr ?? "", exit: await process.exit };
}

export function run(client: GuestClient, argv: readonly string[], fields: Partial<SpawnSpec> = {}): Promise<Result> {
  return collect(client.spawn(command(argv, fields)));
}

export const shell = (client: GuestClient, script: string, fields: Partial<SpawnSpec> = {}): Promise<Result> =>
  run(client, ["sh", "-c", script], fields);
