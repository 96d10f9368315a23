import { setTimeout as sleep } from "node:timers/promises";
import { isClocheError } from "../../base/errors.ts";
import { isProcessAlive, type ProcessIdentity } from "../../base/process-identity.ts";
import type { Wall, WallRecord } from "../../contracts/backend.ts";
import type { GuestClient } from "../../guest/client.ts";
import { connectGuest } from "../../walls/guest-socket.ts";
import { type Machine, hostSocket } from "./machine.ts";

const LOOK_AGAIN_MS = 20;

/** With the process that the machine is on this host. */
export interface SmolmachinesRecord extends WallRecord, ProcessIdentity {}

export class SmolmachinesWall implements Wall {
  readonly record: SmolmachinesRecord;
  readonly #directory: string;
  readonly #machine: Machine;
  /** The connection that proved that the guest answers; the first caller gets it. */
  #first: GuestClient | undefined;

  constructor(directory: string, record: SmolmachinesRecord, machine: Machine, first?: GuestClient) {
    this.record = record;
    this.#directory = directory;
    this.#machine = machine;
    this.#first = first;
  }

  connect(signal?: AbortSignal): Promise<GuestClient> {
    const first = this.#first;
    this.#first = undefined;
    return first ? Promise.resolve(first) : connectGuest(hostSocket(this.#directory), signal);
  }

  /** The guest program may end in a machine that runs on: then its socket leads nowhere. */
  async hasEnded(withinMs: number): Promise<boolean> {
    const over = AbortSignal.timeout(withinMs);
    for (;;) {
      if (!isProcessAlive(this.record)) return true;
      try {
        (await connectGuest(hostSocket(this.#directory), over)).close();
        return false;
      } catch (error) {
        // Silence for that long is a busy machine, not one that has ended.
        if (isClocheError(error) && error.code === "CANCELLED") return false;
      }
      if (over.aborted) return true;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async stop(): Promise<void> {
    this.#first?.close();
    await this.#machine.stop();
  }
}
