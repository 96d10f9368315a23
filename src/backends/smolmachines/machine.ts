import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { IdMap } from "../../base/id-map.ts";
import { type ProcessIdentity, identifyProcess } from "../../base/process-identity.ts";
import type { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";
import { connectGuest } from "../../guest/connect-guest.ts";
import { guestProgram } from "../../walls/guest-program.ts";
import { packLayer } from "../../walls/layer-stream.ts";
import { tmpfsBytes } from "../../walls/sandbox-layout.ts";
import { type MachineRecord, writeMachineRecord } from "./machine-record.ts";
import { type Smolvm, isNotFound, shown } from "./smolvm.ts";
import {
  copyInArguments,
  deleteArguments,
  detachArguments,
  execArguments,
  startArguments,
  stopArguments,
} from "./smolvm-arguments.ts";

/** On the disk that a machine keeps; the sandbox's own `/workspace` covers it there. */
const STORE = "/workspace/.cloche";
export const GUEST_SOCKET = `${STORE}/guest.sock`;
const PROGRAM = `${STORE}/guest`;
const BASELINE = `${STORE}/baseline`;
const layerFolder = (index: number): string => `${STORE}/layers/${index}`;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

export const hostSocket = (directory: string): string => join(directory, "guest.sock");

/** One machine of `smolvm`, from its first start to its removal. */
export class Machine {
  readonly #smolvm: Smolvm;
  readonly #directory: string;
  readonly #record: MachineRecord;

  constructor(smolvm: Smolvm, directory: string, record: MachineRecord) {
    this.#smolvm = smolvm;
    this.#directory = directory;
    this.#record = record;
  }

  /** Boots it, and waits until it takes commands. */
  async boot(signal: AbortSignal | undefined): Promise<ProcessIdentity> {
    const { name, layers } = this.#record;
    const { bootMs } = this.#smolvm.deadlines;
    const result = await this.#smolvm.call(startArguments(name), { deadlineMs: bootMs, signal });
    if (result.code === 1 && isNotFound(result.stderr))
      throw failure("SANDBOX_LOST", `Machine ${name} was deleted by somebody else, and its files with it`);
    const { stdout } = this.#smolvm.expectSuccess("machine start", result);
    const pid = /\(PID: (\d+)\)/.exec(stdout)?.[1];
    const identity = pid === undefined ? undefined : identifyProcess(Number(pid));
    if (!identity)
      throw failure("SANDBOX_START_FAILED", `"smolvm machine start" named no process that runs: ${shown(stdout)}`);
    const folders = [BASELINE, ...Array.from({ length: layers }, (_, index) => layerFolder(index))];
    // For a moment after a start, smolvm refuses commands.
    await patiently(this.#smolvm.deadlines.quickMs, signal, () => this.#exec(["mkdir", "-p", ...folders], signal));
    return identity;
  }

  /** Puts the baseline and the layers over it on the machine's disk, once. */
  async fill(trees: readonly string[], idMap: IdMap, signal: AbortSignal | undefined): Promise<void> {
    if (this.#record.filled) return;
    for (const [index, tree] of trees.entries()) {
      const folder = index === 0 ? BASELINE : layerFolder(index - 1);
      const unpack = execArguments(this.#record.name, [PROGRAM, "layer-unpack", "--to", folder], true);
      const { copyMs } = this.#smolvm.deadlines;
      await this.#smolvm.run(unpack, { input: packLayer(tree, idMap, signal), deadlineMs: copyMs, signal });
    }
    await writeMachineRecord(this.#directory, { ...this.#record, filled: true });
  }

  /** Starts the guest program, which stays, and connects to it. */
  async lodge(signal: AbortSignal | undefined): Promise<GuestClient> {
    const { name, hostname, layers, memMib } = this.#record;
    // prettier-ignore
    const command = [
      PROGRAM, "lodge", "--store", STORE, "--socket", GUEST_SOCKET, "--hostname", hostname,
      "--layers", String(layers), "--memory-bytes", String(tmpfsBytes({ memMib })),
    ];
    await this.#smolvm.run(detachArguments(name, command), { signal });
    return await patiently(this.#smolvm.deadlines.quickMs, signal, () =>
      connectGuest(hostSocket(this.#directory), signal),
    );
  }

  /** The guest program of this version, also in a machine that an older one has made. */
  async copyProgram(signal: AbortSignal | undefined): Promise<void> {
    const program = guestProgram();
    const argv = copyInArguments(this.#record.name, basename(program), PROGRAM, "755");
    await this.#smolvm.run(argv, { cwd: dirname(program), deadlineMs: this.#smolvm.deadlines.copyMs, signal });
  }

  /** What is on its disk stays. */
  async stop(): Promise<void> {
    await this.#endWith(stopArguments(this.#record.name), "machine stop");
  }

  async delete(): Promise<void> {
    await this.#endWith(deleteArguments(this.#record.name), "machine delete");
  }

  /** One that is not there has ended. */
  async #endWith(argv: readonly string[], what: string): Promise<void> {
    const result = await this.#smolvm.call(argv, { deadlineMs: this.#smolvm.deadlines.bootMs });
    if (result.code !== 1 || !isNotFound(result.stderr)) this.#smolvm.expectSuccess(what, result);
  }

  async #exec(command: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    await this.#smolvm.run(execArguments(this.#record.name, command, false), { signal });
  }
}

/** Tries again while nothing tells when it would work; the last failure counts. */
async function patiently<Result>(
  forMs: number,
  signal: AbortSignal | undefined,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + forMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() + pause > deadline || signal?.aborted) throw error;
    }
    await sleep(pause, undefined, { ...(signal && { signal }) });
  }
}
