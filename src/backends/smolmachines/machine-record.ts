import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../base/atomic-write.ts";
import { errnoOf } from "../../base/errors.ts";

/** What is noted of a machine in its sandbox's folder, before it is made: its disk outlives a stop, and the daemon. */
export interface MachineRecord {
  readonly name: string;
  readonly hostname: string;
  readonly memMib: number;
  /** How many layers are over the baseline. */
  readonly layers: number;
  /** Whether the baseline and the layers are on the machine's disk, all of them. */
  readonly filled: boolean;
}

const recordFile = (directory: string): string => join(directory, "machine.json");

export async function writeMachineRecord(directory: string, record: MachineRecord): Promise<void> {
  await writeFileAtomic(recordFile(directory), JSON.stringify(record));
}

/** Undefined when nothing was made. */
export async function readMachineRecord(directory: string): Promise<MachineRecord | undefined> {
  try {
    return JSON.parse(await readFile(recordFile(directory), "utf8")) as MachineRecord;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
