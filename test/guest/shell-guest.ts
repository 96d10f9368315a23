import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Wall } from "../../src/contracts/backend.ts";
import type { StoredShell } from "../../src/contracts/store.ts";
import { GuestClient } from "../../src/guest/client.ts";
import { guestProgram } from "../../src/walls/guest-program.ts";
import type { Dependencies } from "../../src/workspaces/dependencies.ts";
import { ToldEvents } from "../helpers/told-events.ts";
import { LiveWorkspace } from "../../src/workspaces/live-workspace.ts";
import { Secrets } from "../../src/workspaces/secrets.ts";
import { Shells } from "../../src/workspaces/shells/shells.ts";

const DEADLINE_MS = 30_000;

/** A root like the host's with a `/workspace`, then the guest program in it. All mounts are in a namespace of their own. In a chroot nobody makes a user namespace. */
const SCRIPT = `set -e
mkdir "$1/layers" "$1/root"
mount -t tmpfs tmpfs "$1/layers"
mkdir "$1/layers/upper" "$1/layers/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layers/upper,workdir=$1/layers/work" "$1/root"
mkdir -p "$1/root/workspace/deep" "$1/root/door"
chown -R 1000:1000 "$1/root/workspace"
mount --bind "$1/door" "$1/root/door"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
cp "$2" "$1/root/cloche-guest"
exec chroot "$1/root" /cloche-guest init --no-keeper --socket /door/socket --workspace /workspace`;

/** A guest with a `/workspace`, and what `Shells` needs around it. Needs root. */
export class ShellGuest implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "cloche-shell-test-"));
  readonly records = new Map<string, StoredShell>();
  readonly deps: Dependencies = {
    store: memoryStore(this.records),
    events: new ToldEvents(),
    clock: systemClock,
    log: silentLog,
  } as unknown as Dependencies;
  readonly shells = new Shells(this.deps);
  readonly #clients: GuestClient[] = [];
  #child: ChildProcess | undefined;

  static async start(): Promise<ShellGuest> {
    const guest = new ShellGuest();
    chmodSync(guest.directory, 0o755);
    mkdirSync(join(guest.directory, "door"));
    const flags = ["--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--ipc", "--propagation", "private"];
    guest.#child = spawn("unshare", [...flags, "sh", "-c", SCRIPT, "sh", guest.directory, guestProgram()], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    (await guest.#socket()).destroy();
    return guest;
  }

  /** As a daemon sees it: each has its own connection. */
  live(secrets: Readonly<Record<string, string>> = {}): LiveWorkspace {
    const wall: Partial<Wall> = { connect: () => this.client(), hasEnded: () => Promise.resolve(false) };
    return new LiveWorkspace({
      workspaceId: "ws-test",
      wall: wall as Wall,
      executionMode: "guest_socket",
      limits: { vcpuCount: 1, memMib: 1024, pids: 4096, diskMib: undefined },
      hasEgress: false,
      secrets: new Secrets(new Map(Object.entries(secrets))),
      onLost: () => undefined,
    });
  }

  async client(): Promise<GuestClient> {
    const client = await GuestClient.connect(await this.#socket());
    this.#clients.push(client);
    return client;
  }

  async #socket(): Promise<Socket> {
    const until = Date.now() + DEADLINE_MS;
    for (;;) {
      const socket = connect(join(this.directory, "door/socket"));
      try {
        await once(socket, "connect");
        return socket;
      } catch (error) {
        if (Date.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    // a removal must not go through a mount
    if (readFileSync("/proc/self/mountinfo", "utf8").includes(this.directory)) {
      throw new Error(`Something is still mounted below ${this.directory}`);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const memoryStore = (records: Map<string, StoredShell>) => ({
  putShell: (_: string, shell: StoredShell) => void records.set(shell.shellId, shell),
  findShell: (_: string, shellId: string) => records.get(shellId),
  listShells: () => [...records.values()],
  findWorkspace: () => undefined,
  updateWorkspace: () => undefined,
  deleteShell: (_: string, shellId: string) => void records.delete(shellId),
  transaction: <Result>(body: () => Result): Result => body(),
});
