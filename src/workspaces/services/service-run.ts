import { constants } from "node:os";
import type { StoredService } from "../../contracts/store.ts";
import type { GuestExit } from "../../guest/process.ts";
import type { Dependencies } from "../dependencies.ts";
import { exitCodeOf } from "../exec-command.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import type { PublishedPort } from "./published-port.ts";
import { endLeftovers, signalProcess, watchProcess } from "./service-process.ts";

/** Between TERM and KILL at a stop. */
const STOP_GRACE_MS = 5000;

/**
 * One run of a service: from its first record to its end, however it ends. It alone writes the record while it is there.
 *
 * A program that daemonises ends its run: the process that was started has exited, so the service is `exited`, and what it left behind
 * lives on unseen until the sandbox ends.
 */
export class ServiceRun {
  readonly live: LiveWorkspace;
  readonly ports: readonly PublishedPort[];
  /** Resolves when the run is over and its record says so. */
  readonly ended: Promise<void>;
  /** How the process ended; undefined while it runs, and when nobody knows. */
  exit: GuestExit | undefined;
  readonly #deps: Dependencies;
  readonly #onEnd: () => void;
  #record: StoredService;
  #process: number | undefined;
  /** Why it is being ended; else it ends of its own accord. */
  #wanted: "stopped" | "failed" | undefined;
  #over = false;
  #resolveEnded!: () => void;

  constructor(
    deps: Dependencies,
    live: LiveWorkspace,
    { record, ports, onEnd }: { record: StoredService; ports: readonly PublishedPort[]; onEnd: () => void },
  ) {
    this.#deps = deps;
    this.live = live;
    this.#record = record;
    this.ports = ports;
    this.#onEnd = onEnd;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get record(): StoredService {
    return this.#record;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Changes the record, unless it is no longer this run's to change. */
  write(fields: Partial<StoredService>): void {
    if (this.#over) return;
    this.#record = { ...this.#record, ...fields };
    this.#deps.store.putService(this.live.workspaceId, this.#record);
  }

  tellStart(): void {
    if (this.#over) return;
    const { serviceName, command } = this.#record;
    this.#deps.events.record({
      kind: "service.started",
      workspace_id: this.live.workspaceId,
      service_name: serviceName,
      command,
    });
  }

  /** From here on the end of that process is the end of the run. */
  follow(process: number): void {
    this.#process = process;
    void this.#watch(process);
    // Asked to end while there was no process to tell.
    if (this.#wanted) void this.#signal(constants.signals.SIGKILL, "tree");
  }

  markReady(): void {
    if (!this.#over) {
      this.#deps.store.transaction(() => {
        this.write({ state: "running", readyAt: this.#deps.clock.now() });
        const { workspaceId } = this.live;
        const service_name = this.#record.serviceName;
        this.#deps.events.record({ kind: "service.ready", workspace_id: workspaceId, service_name });
      });
    }
    for (const port of this.ports) port.open();
  }

  /** TERM to its process group, and KILL to all of it when that does not help. */
  async stop(): Promise<void> {
    this.#wanted ??= "stopped";
    await this.#closePorts();
    await this.#signal(constants.signals.SIGTERM, "group");
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), STOP_GRACE_MS);
    });
    if ((await Promise.race([this.ended, late])) === "late") await this.#signal(constants.signals.SIGKILL, "tree");
    clearTimeout(timer);
    await this.ended;
  }

  /** KILL to all of it: it did not get ready. */
  async fail(): Promise<void> {
    this.#wanted ??= "failed";
    await this.#closePorts();
    if (this.#process === undefined) {
      this.#finish(undefined);
      await this.release();
    }
    await this.#signal(constants.signals.SIGKILL, "tree");
    await this.ended;
    // A service that had made itself a daemon meanwhile; when the sandbox is gone, so is it.
    await this.live
      .guest()
      .then((guest) => endLeftovers(guest, this.#record.serviceName))
      .catch(() => undefined);
  }

  /** Lets go: ports are closed, the record and the process stay as they are. Idempotent. */
  async release(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    this.#onEnd();
    await this.#closePorts();
    this.#resolveEnded();
  }

  async #watch(process: number): Promise<void> {
    const end = await watchProcess(this.live, process);
    try {
      if (end !== "left") this.#finish(end);
    } catch (error) {
      const { serviceName } = this.#record;
      this.#deps.log.error("could not record the end of a service", { serviceName, error: String(error) });
    }
    await this.release();
  }

  #finish(exit: GuestExit | undefined): void {
    if (this.#over) return;
    this.exit = exit;
    const notStarted = exit?.kind === "failed" || this.#record.state === "starting";
    const state = this.#wanted ?? (exit === undefined || notStarted ? "failed" : "exited");
    const exitCode = exit ? exitCodeOf(exit) : null;
    this.#deps.store.transaction(() => {
      const endedAt = this.#deps.clock.now();
      this.write({ state, endedAt, exitCode });
      // The end of what ran is activity.
      this.#deps.store.updateWorkspace(this.live.workspaceId, { lastActivityAt: endedAt });
      const told = { service_name: this.#record.serviceName, state, exit_code: exitCode } as const;
      this.#deps.events.record({ kind: "service.ended", workspace_id: this.live.workspaceId, ...told });
    });
  }

  async #signal(signal: number, scope: "group" | "tree"): Promise<void> {
    if (this.#over) return;
    try {
      const guest = await this.live.guest();
      if (this.#process !== undefined) signalProcess(guest, this.#process, signal, scope);
    } catch {
      // The sandbox is gone: the watch learns it too and ends the run.
    }
  }

  async #closePorts(): Promise<void> {
    await Promise.all(this.ports.map((port) => port.close()));
  }
}
