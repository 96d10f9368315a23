import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { IdMap } from "../../base/id-map.ts";
import { onAbort } from "../../base/on-abort.ts";
import { removeTree } from "../../base/remove-tree.ts";
import type { GuestClient } from "../../guest/client.ts";
import { failure } from "../../model/error-codes.ts";
import { packLayer } from "../../walls/layer-stream.ts";
import type { BootFiles } from "./boot-files.ts";
import { ControlPort } from "./control-port.ts";
import { copyDisk } from "./disk-images.ts";
import { emulatorUser } from "./emulator-user.ts";
import { GuestPorts } from "./guest-ports.ts";
import type { MachineFolder } from "./machine-folder.ts";
import { loadOwnMemory } from "./machine-memory.ts";
import { type Launched, type MachineProcess, launchMachine, whileItLives } from "./machine-process.ts";
import { CONTROL_SOCKET, DAEMON_PORTS, type MachineShape, QMP_SOCKET, machineCommand } from "./qemu-arguments.ts";
import { Qmp } from "./qmp.ts";
import { loadState } from "./save-state.ts";
import type { Spare } from "./spare-machines.ts";
import { tryCommands } from "./warm-up.ts";

const START_MS = 60_000;

/** A machine that stands still, to be thawed: a template, or one that was saved with its processes. */
export interface Frozen {
  readonly shape: MachineShape;
  readonly memory: string;
  readonly state: string;
  readonly environment: string;
  /** What it has written over `memory`; nothing for a template. */
  readonly ownMemory?: string | undefined;
  /** A port of it that no host was connected to. */
  readonly freePort?: number | undefined;
}

export interface ThawOptions {
  readonly qemu: string;
  readonly boot: BootFiles;
  readonly frozen: Frozen;
  readonly folder: MachineFolder;
  /** Names the user that the emulator becomes. */
  readonly name: string;
  readonly idMap: IdMap;
  /** Undefined for a spare machine, which belongs to no workspace yet. */
  readonly hostname: string | undefined;
  readonly seed: string | undefined;
  readonly layers: readonly string[];
  /** Stands for a disk that is not there. */
  readonly empty: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Thawed {
  readonly process: MachineProcess;
  readonly ports: GuestPorts;
  /** The connection that proved that the guest program answers. */
  readonly first: GuestClient;
}

/** Thaws a machine on the disks of its folder and makes it this sandbox's. On failure nothing of it runs. */
export async function thaw(options: ThawOptions): Promise<Thawed> {
  const { machine, stateFd } = await launch(options, options.seed ?? options.empty);
  return await orEnd(machine, options.signal, bringUp(options, machine, stateFd));
}

/**
 * Thaws a machine that belongs to no workspace yet. It runs the usual first commands once and stands still again: an emulator has to translate a program
 * before its first run. `seed` is the disk in that place, which may still be written to. `hurry` says that a sandbox waits, which skips these commands.
 */
export async function thawSpare(
  options: ThawOptions,
  seed: string | undefined,
  hurry: () => boolean,
): Promise<Launched> {
  const { machine, stateFd } = await launch(options, seed ?? options.empty);
  const run = async () => {
    const { first } = await bringUp(options, machine, stateFd);
    await tryCommands(first, hurry);
    first.close();
    await withQmp(options.folder, (qmp) => qmp.execute("stop"));
  };
  await orEnd(machine, options.signal, run());
  return machine;
}

/** Gives a spare machine to this sandbox. On failure nothing of it runs. */
export async function takeOver({ folder: place, machine }: Spare, options: ThawOptions): Promise<Thawed> {
  const { folder, frozen, seed, signal } = options;
  // Not the port that was used before it stood still: the machine may not know yet that it was left.
  const ports = new GuestPorts(folder.emulator, ((frozen.freePort ?? 0) + 1) % DAEMON_PORTS);
  const become = async (): Promise<Thawed> => {
    // Written into the disk that the machine has open, and has not looked at yet.
    if (frozen.ownMemory === undefined && seed !== undefined) await copyDisk(seed, place.ownSeed, signal);
    folder.take(place);
    return await withQmp(folder, async (qmp) => {
      const [first] = await Promise.all([ports.connect(signal), makeOwn(options), qmp.execute("cont")]);
      return { process: machine.process, ports, first };
    });
  };
  try {
    return await orEnd(machine, signal, become());
  } finally {
    await removeTree(place.path);
  }
}

async function launch(
  { qemu, boot, frozen, folder, name, idMap }: ThawOptions,
  seed: string,
): Promise<{ machine: Launched; stateFd: number }> {
  const restarted = folder.isRestarted;
  folder.make();
  const files = {
    memory: frozen.memory,
    environment: frozen.environment,
    disk: restarted ? folder.spare : folder.disk,
    seed,
    oldDisk: restarted ? folder.disk : folder.unused,
  };
  const { shape, state } = frozen;
  const command = machineCommand({ qemu, shape, files, boot, state });
  const machine = await launchMachine(folder.emulator, command, emulatorUser(name, idMap));
  return { machine, stateFd: command.stateFd };
}

/** Work on a machine that is to be up in time; else, or by the signal, the machine ends. */
async function orEnd<Result>(
  machine: Launched,
  signal: AbortSignal | undefined,
  work: Promise<Result>,
): Promise<Result> {
  const stopListening = onAbort(signal, () => void machine.process.kill());
  try {
    return await whileItLives(machine, START_MS, work, tooLate);
  } catch (error) {
    await machine.process.kill();
    if (signal?.aborted) throw failure("CANCELLED", "Starting the machine was cancelled", { cause: error });
    throw error;
  } finally {
    stopListening();
  }
}

async function withQmp<Result>(folder: MachineFolder, work: (qmp: Qmp) => Promise<Result>): Promise<Result> {
  const qmp = await Qmp.connect(join(folder.emulator, QMP_SOCKET));
  try {
    return await work(qmp);
  } finally {
    qmp.close();
  }
}

async function bringUp(options: ThawOptions, { process }: Launched, stateFd: number): Promise<Thawed> {
  const { frozen, folder } = options;
  const ports = new GuestPorts(folder.emulator, frozen.freePort);
  return await withQmp(folder, async (qmp) => {
    if (frozen.ownMemory !== undefined)
      await loadOwnMemory(process.identity.pid, statSync(frozen.memory), frozen.ownMemory);
    // All wait until the machine runs, and are heard as soon as it does; on an old disk it starts its guest program anew.
    const made = makeOwn(options);
    const greeted = folder.isRestarted ? made.then(() => ports.connect(options.signal)) : ports.connect(options.signal);
    const [, , first] = await Promise.all([loadState(qmp, stateFd), made, greeted]);
    return { process, ports, first };
  });
}

/** What makes it this sandbox and no other. */
async function makeOwn({ frozen, folder, hostname, seed, layers, idMap, signal }: ThawOptions): Promise<void> {
  const control = await ControlPort.connect(join(folder.emulator, CONTROL_SOCKET));
  try {
    control.renew(hostname);
    if (frozen.ownMemory !== undefined || (!folder.isRestarted && seed === undefined && layers.length === 0)) {
      control.say("renew"); // its workspace is there already
    } else {
      if (folder.isRestarted) control.say("old-disk");
      if (seed !== undefined) control.say("seed");
      if (!folder.isFilled) await sendLayers(control, layers, idMap, signal);
      control.say(`workspace ${layers.length}`);
    }
    await control.settled();
    folder.markFilled();
  } finally {
    control.close();
  }
}

async function sendLayers(
  control: ControlPort,
  layers: readonly string[],
  idMap: IdMap,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const [index, layer] of layers.entries()) {
    if (!existsSync(layer)) throw failure("SANDBOX_START_FAILED", "A layer of the workspace is gone");
    control.say(`layer ${index}`);
    await control.expect("send");
    const received = control.expect("received");
    await control.send(packLayer(layer, idMap, signal));
    await received;
  }
}

const tooLate = (): Error =>
  failure("SANDBOX_START_FAILED", `The machine did not answer within ${START_MS / 1000} seconds`);
