import { within } from "../../base/deadline.ts";
import type { StopOptions, Wall, WallRecord } from "../../contracts/backend.ts";
import type { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";
import type { GuestPorts } from "./guest-ports.ts";
import type { MachineProcess } from "./machine-process.ts";

/** For a machine to end its processes and to write its disk. */
const SHUTDOWN_MS = 10_000;

export class VmWall implements Wall {
  readonly record: WallRecord;
  readonly #process: MachineProcess;
  readonly #ports: GuestPorts;
  /** The connection that proved that the guest answers; the first caller gets it. */
  #first: GuestClient | undefined;

  constructor(record: WallRecord, process: MachineProcess, ports: GuestPorts, first?: GuestClient) {
    this.record = record;
    this.#process = process;
    this.#ports = ports;
    this.#first = first;
  }

  get gateSocket(): string {
    return this.#ports.gateSocket;
  }

  connect(signal?: AbortSignal): Promise<GuestClient> {
    const first = this.#first;
    this.#first = undefined;
    return first ? Promise.resolve(first) : this.#ports.connect(signal);
  }

  hasEnded(withinMs: number): Promise<boolean> {
    return this.#process.hasEnded(withinMs);
  }

  async stop({ discard = false }: StopOptions = {}): Promise<void> {
    this.#first?.close();
    if (discard) await this.#process.kill();
    else await shutDown(this.#process, this.#ports);
  }
}

/** Has the machine write its disk before it goes. One that does not answer loses what was not yet written. */
export async function shutDown(process: MachineProcess, ports: GuestPorts): Promise<void> {
  if (!process.alive()) return;
  try {
    await within(SHUTDOWN_MS, askToEnd(process, ports), () => failure("SANDBOX_LOST", "The machine does not end"));
  } catch {
    // it is ended all the same
  }
  await process.kill();
}

async function askToEnd(process: MachineProcess, ports: GuestPorts): Promise<void> {
  const client = await ports.connect(AbortSignal.timeout(SHUTDOWN_MS / 2));
  await client.shutdown();
  await process.hasEnded(SHUTDOWN_MS);
}
