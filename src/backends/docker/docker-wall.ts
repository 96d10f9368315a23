import { join } from "node:path";
import { isProcessAlive, type ProcessIdentity, signalProcess } from "../../base/process-identity.ts";
import type { Wall, WallRecord } from "../../contracts/backend.ts";
import { DockerEngine } from "../../docker-engine/engine.ts";
import type { GuestClient } from "../../guest/client.ts";
import { connectGuest } from "../../guest/connect-guest.ts";
import { GUEST_SOCKET, socketFolder } from "./container-config.ts";

/** With the container's first process, as this host has it. */
export interface DockerRecord extends WallRecord, ProcessIdentity {
  /** Of the engine, as in `DOCKER_HOST`. */
  readonly address: string;
  /** Id of the container. */
  readonly container: string;
}

const STOP_PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 5;

/** A container whose first process is the guest program. It is asked through its socket, and lives on without the engine. */
export class DockerWall implements Wall {
  readonly record: DockerRecord;
  readonly #directory: string;
  readonly #engine: DockerEngine;
  /** The connection that proved that the guest answers; the first caller gets it. */
  #first: GuestClient | undefined;

  constructor(directory: string, record: DockerRecord, options: { engine?: DockerEngine; first?: GuestClient } = {}) {
    this.#directory = directory;
    this.record = record;
    this.#engine = options.engine ?? DockerEngine.at(record.address);
    this.#first = options.first;
  }

  get alive(): boolean {
    return isProcessAlive(this.record);
  }

  get gateSocket(): string {
    return join(socketFolder(this.#directory), GUEST_SOCKET);
  }

  connect(signal?: AbortSignal): Promise<GuestClient> {
    const first = this.#first;
    this.#first = undefined;
    return first ? Promise.resolve(first) : connectGuest(this.gateSocket, signal);
  }

  /** Looked at on this host, so that an engine that is away makes no difference. */
  async hasEnded(withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs;
    while (this.alive && Date.now() < deadline) await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    return !this.alive;
  }

  async stop(): Promise<void> {
    this.#first?.close();
    if (!this.alive) return;
    try {
      await this.#engine.killContainer(this.record.container);
    } catch (error) {
      // The engine is away. Its containers are not; root may end one without it.
      signalProcess(this.record, "SIGKILL");
      if (!(await this.hasEnded(STOP_PATIENCE_MS))) throw error;
    }
    await this.hasEnded(STOP_PATIENCE_MS);
  }
}
