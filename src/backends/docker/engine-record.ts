import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../../base/process-identity.ts";

/** What is in an engine for a sandbox; written before it is made there, so that it is found after any crash. */
export interface EngineRecord {
  /** Of the engine, as in `DOCKER_HOST`. */
  readonly address: string;
  /** Of the container and of its volume. */
  readonly name: string;
  /** The container's first process on this host, once it runs. */
  readonly process?: ProcessIdentity;
}

const file = (directory: string): string => join(directory, "docker.json");

/** Not synced: after a crash of the whole machine, labels find what is left. */
export function writeEngineRecord(directory: string, record: EngineRecord): void {
  const temporary = `${file(directory)}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(temporary, file(directory));
}

export function removeEngineRecord(directory: string): void {
  rmSync(file(directory), { force: true });
}

/** Undefined when nothing was made. */
export function readEngineRecord(directory: string): EngineRecord | undefined {
  try {
    return JSON.parse(readFileSync(file(directory), "utf8")) as EngineRecord;
  } catch {
    return undefined; // written in one step: it is whole or not there
  }
}
