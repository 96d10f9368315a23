import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { Wall, WallRecord } from "../../../src/contracts/backend.ts";
import { GuestClient } from "../../../src/guest/client.ts";
import type { NetworkPolicy } from "../../../src/model/names.ts";
import type { OperationInput } from "../../../src/model/operations.ts";
import type { Service } from "../../../src/model/service.ts";
import { guestProgram } from "../../../src/walls/guest-program.ts";
import type { Dependencies } from "../../../src/workspaces/dependencies.ts";
import { LiveWorkspace } from "../../../src/workspaces/live-workspace.ts";
import { Secrets } from "../../../src/workspaces/secrets.ts";
import { Services } from "../../../src/workspaces/services/services.ts";
import { ToldEvents } from "../../helpers/told-events.ts";
import { MemoryStore } from "./memory-store.ts";

export const WORKSPACE_ID = "ws-0123456789";
const AGENT = 1000;
const DEADLINE_MS = 30_000;

/** The host's tree under a layer that is thrown away, with a `/workspace` of its own; then the guest program. */
const SCRIPT = `set -e
mount -t tmpfs tmpfs "$1/layer"
mkdir "$1/layer/upper" "$1/layer/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/layer/upper,workdir=$1/layer/work" "$1/root"
mkdir -p "$1/root/workspace" "$1/root$1"
mount --bind "$1/workspace" "$1/root/workspace"
mount --bind "$1" "$1/root$1"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mkdir -p "$1/root/program"
cp "$2" "$1/root/program/guest"
exec chroot "$1/root" /program/guest init --no-keeper --socket "$1/socket" --workspace /workspace`;

type StartInput = OperationInput<"startService">;
type StartFields = Omit<StartInput, "workspace_id" | "service_name" | "command">;

/** A real guest program with `/workspace`, the services of one workspace in it, and a store. Needs root. */
export class ServiceSandbox implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), "cloche-services-"));
  readonly workspace = join(this.directory, "workspace");
  readonly store = new MemoryStore();
  readonly events = new ToldEvents();
  services = new Services(this.#dependencies());
  live = this.#newLive({});
  #child: ChildProcess | undefined;

  static async start(): Promise<ServiceSandbox> {
    const sandbox = new ServiceSandbox();
    chmodSync(sandbox.directory, 0o755);
    for (const folder of ["workspace", "layer", "root"]) {
      mkdirSync(join(sandbox.directory, folder));
      chownSync(join(sandbox.directory, folder), AGENT, AGENT);
    }
    const flags = ["--pid", "--fork", "--kill-child", "--mount", "--net", "--ipc", "--propagation", "private"];
    sandbox.#child = spawn("unshare", [...flags, "sh", "-c", SCRIPT, "sh", sandbox.directory, guestProgram()], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    (await sandbox.#socket()).destroy();
    return sandbox;
  }

  begin(
    name: string,
    command: StartInput["command"],
    fields: StartFields & { signal?: AbortSignal; networkPolicy?: NetworkPolicy } = {},
  ): Promise<Service> {
    const { signal, networkPolicy = "off", ...input } = fields;
    return this.services.start(
      this.live,
      { workspace_id: WORKSPACE_ID, service_name: name, command, ...input },
      { ...(signal && { signal }), networkPolicy },
    );
  }

  status(name: string): Promise<Service> {
    return this.services.status(WORKSPACE_ID, this.live, name);
  }

  logs(name: string, fields: { tail_lines?: number; all?: boolean } = {}) {
    return this.services.logs(this.live, { workspace_id: WORKSPACE_ID, service_name: name, ...fields });
  }

  stop(name: string): Promise<Service> {
    return this.services.stop(this.live, { workspace_id: WORKSPACE_ID, service_name: name });
  }

  /** The record of a service once it has come to that state. */
  async until(name: string, state: Service["state"]): Promise<Service> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const service = await this.status(name);
      if (service.state === state) return service;
      if (Date.now() > deadline) throw new Error(`${name} is ${service.state}, not ${state}`);
      await (await this.live.guest()).ping();
    }
  }

  /** What the agent's shell says in the sandbox. */
  async shell(script: string): Promise<string> {
    const process = (await this.live.guest()).spawn({
      argv: ["/bin/sh", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/workspace",
      user: { uid: AGENT, gid: AGENT },
    });
    const parts: Buffer[] = [];
    for await (const { data } of process.output()) parts.push(data);
    return Buffer.concat(parts).toString();
  }

  /** A daemon that died, and the next one: nothing of the first is left but the store and the sandbox. */
  async nextDaemon(secrets: Record<string, string> = {}) {
    await this.live.release();
    await this.services.close();
    this.live = this.#newLive(secrets);
    this.services = new Services(this.#dependencies());
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || this.#hasEnded()) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.services.close();
    await this.live.release();
    await this.kill();
    // its mounts were in its own namespace; a removal must not go through one that is not
    if (readFileSync("/proc/self/mountinfo", "utf8").includes(this.directory)) {
      throw new Error(`Something is still mounted below ${this.directory}`);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  #hasEnded(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null;
  }

  #newLive(secrets: Record<string, string>): LiveWorkspace {
    const record: WallRecord = { kind: "test" };
    const wall: Wall = {
      record,
      connect: async () => await GuestClient.connect(await this.#socket()),
      hasEnded: () => Promise.resolve(this.#hasEnded()),
      stop: () => this.kill(),
    };
    return new LiveWorkspace({
      workspaceId: WORKSPACE_ID,
      wall,
      executionMode: "guest_socket",
      limits: { vcpuCount: 1, memMib: 512, pids: 4096, diskMib: undefined },
      hasEgress: false,
      secrets: new Secrets(new Map(Object.entries(secrets))),
      onLost: () => undefined,
    });
  }

  #dependencies(): Dependencies {
    const unused = (): never => {
      throw new Error("not used by services");
    };
    return {
      home: this.directory,
      store: this.store,
      events: this.events,
      backends: new Map(),
      environments: undefined as never,
      journal: undefined as never,
      layers: undefined as never,
      scratch: undefined as never,
      trash: undefined as never,
      includes: undefined as never,
      seeds: undefined as never,
      gates: undefined as never,
      tokens: undefined as never,
      clock: systemClock,
      log: silentLog,
      config: unused,
      workChanged: unused,
    };
  }

  async #socket(): Promise<Socket> {
    const until = Date.now() + DEADLINE_MS;
    for (;;) {
      const socket = connect(join(this.directory, "socket"));
      try {
        await once(socket, "connect");
        return socket;
      } catch (error) {
        if (Date.now() > until || this.#hasEnded()) throw error;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }
}
