import { join } from "node:path";
import type { ProcessIdentity } from "../../base/process-identity.ts";
import type { Wall, WallRecord } from "../../contracts/backend.ts";
import type { GuestClient } from "../../guest/client.ts";
import { connectGuest } from "../../walls/guest-socket.ts";
import type { WallProcess } from "./wall-process.ts";

export interface ContainerRecord extends WallRecord, ProcessIdentity {
  readonly inner: readonly ProcessIdentity[];
  /** Relative to the workspace's folder. */
  readonly socket: string;
}

export class ContainerWall implements Wall {
  readonly record: ContainerRecord;
  readonly #directory: string;
  readonly #process: WallProcess;
  /** The connection that proved that the guest answers; the first caller gets it. */
  #first: GuestClient | undefined;

  constructor(directory: string, record: ContainerRecord, process: WallProcess, first?: GuestClient) {
    this.#directory = directory;
    this.record = record;
    this.#process = process;
    this.#first = first;
  }

  connect(signal?: AbortSignal): Promise<GuestClient> {
    const first = this.#first;
    this.#first = undefined;
    return first ? Promise.resolve(first) : connectGuest(join(this.#directory, this.record.socket), signal);
  }

  hasEnded(withinMs: number): Promise<boolean> {
    return this.#process.hasEnded(withinMs);
  }

  async stop(): Promise<void> {
    this.#first?.close();
    await this.#process.kill();
  }
}
