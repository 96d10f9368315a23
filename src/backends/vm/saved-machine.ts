import { existsSync, readFileSync, statSync } from "node:fs";
import { link, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { within } from "../../base/deadline.ts";
import { errnoOf } from "../../base/errors.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { failure } from "../../model/error-codes.ts";
import { copyDisk } from "./disk-images.ts";
import type { MachineFolder } from "./machine-folder.ts";
import { saveOwnMemory } from "./machine-memory.ts";
import { QMP_SOCKET, type MachineShape } from "./qemu-arguments.ts";
import { Qmp } from "./qmp.ts";
import { saveState } from "./save-state.ts";
import type { Frozen } from "./thaw.ts";

/** For an emulator to write the state of its devices, which takes milliseconds. */
const PATIENCE_MS = 30_000;

interface SavedFacts {
  readonly qemu: string;
  readonly shape: MachineShape;
  readonly environment: string;
  readonly freePort: number;
}

/** What a running machine was thawed from. */
export interface RunningMachine {
  readonly pid: number;
  readonly folder: MachineFolder;
  /** The file that its memory began as. */
  readonly memory: string;
  readonly facts: SavedFacts;
}

/**
 * Saves a running machine with its processes to the new folder `target`: the state of its devices, the memory that it has written, and its disks. It stands
 * still meanwhile, and goes on after. Gives the bytes that were saved.
 */
export async function saveMachine(machine: RunningMachine, target: string): Promise<number> {
  const { pid, folder, memory, facts } = machine;
  const temporary = `${target}.tmp`;
  await removeTree(temporary);
  await mkdir(temporary, { recursive: true, mode: 0o711 });
  try {
    await keepMemory(memory, join(temporary, "memory"));
    const qmp = await inTime(Qmp.connect(join(folder.emulator, QMP_SOCKET)));
    let failed: unknown;
    try {
      await inTime(saveState(qmp, folder.emulator, join(temporary, "state")));
      await saveOwnMemory(pid, statSync(memory), join(temporary, "own-memory"));
      await copyDisk(folder.disk, join(temporary, "disk"));
      if (folder.isRestarted) await copyDisk(folder.spare, join(temporary, "spare"));
    } catch (error) {
      failed = error;
    }
    // One that has ended goes on no more. Its memory ended with it, at whatever place: what was read of it is not whole.
    const goesOn = await inTime(qmp.execute("cont")).then(
      () => true,
      () => false,
    );
    qmp.close();
    if (!goesOn) throw failure("SANDBOX_LOST", "The emulator ended while its machine was saved", { cause: failed });
    if (failed !== undefined) throw failed as Error;
    await writeFile(join(temporary, "saved.json"), JSON.stringify(facts), { mode: 0o600 });
    await rename(temporary, target);
    return ["own-memory", "state", "disk"].reduce((sum, name) => sum + statSync(join(target, name)).blocks * 512, 0);
  } catch (error) {
    await removeTree(temporary);
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM") {
      throw failure("NOT_SUPPORTED", "Cannot save a running machine: this user may not read its memory", {
        hint: "Run cloche as root, or allow it with sysctl -w kernel.yama.ptrace_scope=0",
        cause: error,
      });
    }
    throw error;
  }
}

/** SECURITY: an emulator that a guest has taken over may say nothing (G-10). */
const inTime = <Result>(work: Promise<Result>): Promise<Result> =>
  within(PATIENCE_MS, work, () =>
    failure("SANDBOX_LOST", `The emulator did not answer within ${PATIENCE_MS / 1000} seconds`),
  );

/** The template may go; a second name keeps its memory. */
async function keepMemory(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (errnoOf(error) !== "EXDEV" && errnoOf(error) !== "EMLINK") throw error;
    await copyDisk(from, to);
  }
}

/** A saved machine, to be thawed on copies of its disks. */
export function findSavedMachine(saved: string, qemuVersion: string): Frozen & { readonly ownMemory: string } {
  const facts = readFacts(saved);
  if (facts.qemu !== qemuVersion) {
    throw failure("SANDBOX_START_FAILED", `The machine was saved by another emulator: ${facts.qemu}`, {
      hint: "Reset to a snapshot without its processes, or install that version",
    });
  }
  return {
    shape: facts.shape,
    environment: facts.environment,
    freePort: facts.freePort,
    memory: join(saved, "memory"),
    state: join(saved, "state"),
    ownMemory: join(saved, "own-memory"),
  };
}

/** Puts copies of a saved machine's disks into a folder. The one that tells that there is a disk comes last. */
export async function copySavedDisks(saved: string, folder: MachineFolder): Promise<void> {
  if (existsSync(join(saved, "spare"))) await folder.copyDisk(join(saved, "spare"), folder.spare);
  await folder.copyDisk(join(saved, "disk"), folder.disk);
}

function readFacts(saved: string): SavedFacts {
  try {
    return JSON.parse(readFileSync(join(saved, "saved.json"), "utf8")) as SavedFacts;
  } catch (error) {
    throw failure("SANDBOX_START_FAILED", "The saved machine is not complete", {
      hint: "Delete the snapshot, and reset to another",
      cause: error,
    });
  }
}
