import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GuestClient, type SpawnSpec } from "../../src/guest/client.ts";
import type { GuestExit, GuestProcess } from "../../src/guest/process.ts";

const PROGRAM = fileURLToPath(new URL("../../build/guest/cloche-guest", import.meta.url));
export const AGENT = { uid: 1000, gid: 1000 };
const DEADLINE_MS = 10_000;

/** Mounts the workspace's layers, then becomes the guest program. */
const SCRIPT = `set -e
if [ "$1" = layers ]; then
  mount -t overlay overlay -o "lowerdir=$2/baseline,upperdir=$2/layer/upper,workdir=$2/layer/work,userxattr" "$2/workspace"
  exec "$3" init --socket "$2/socket" --workspace "$2/workspace" --upper "$2/layer/upper" --baseline "$2/baseline"
fi
exec "$3" init --socket "$2/socket" --workspace "$2/workspace"`;

/** The guest program as first process of its own pid, mount and network namespace, without the rest of a wall. Needs root. */
export class RealGuest implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "cloche-guest-test-"));
  readonly workspace = join(this.directory, "workspace");
  readonly baseline = join(this.directory, "baseline");
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
    const argv = ["--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--propagation", "private"];
    const kind = layers ? "layers" : "plain";
    guest.#child = spawn("unshare", [...argv, "sh", "-c", SCRIPT, "sh", kind, guest.directory, PROGRAM], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    (await guest.socket()).destroy();
    return guest;
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
