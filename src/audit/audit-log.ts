import { constants } from "node:fs";
import { type FileHandle, lstat, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "../base/atomic-write.ts";
import { errnoOf } from "../base/errors.ts";
import type { AuditEntry, AuditRecord } from "../model/audit.ts";
import { failure } from "../model/error-codes.ts";
import {
  BEGINNING,
  checkpointLine,
  entryLine,
  MAX_LINE_BYTES,
  readCheckpoint,
  readEntry,
  signCheckpoint,
  signEntry,
  type Checkpoint,
} from "./audit-entry.ts";
import { type AuditPlaces, auditPlaces } from "./audit-places.ts";
import { InstallationKey } from "./installation-key.ts";

export type NewAuditEntry = Omit<AuditRecord, "sequence" | "through">;
type End = Omit<Checkpoint, "signature">;

/** So many events may be looked at again after a crash, of which no entry tells. */
const PLACE_EVERY = 1000;

/**
 * The audit of one home: entries are added at its end and never changed. Only the daemon writes to it, and one home has one daemon. Its place in the log of events
 * is part of it, so that a daemon that died anywhere goes on with the next event: none is told twice, and none is left out.
 */
export class AuditLog {
  readonly places: AuditPlaces;
  readonly key: InstallationKey;
  readonly #file: FileHandle;
  #end: End;
  /** As far as the disk knows it. */
  #saved: number;
  #isOpen = true;

  private constructor(places: AuditPlaces, key: InstallationKey, file: FileHandle, end: End) {
    this.places = places;
    this.key = key;
    this.#file = file;
    this.#end = end;
    this.#saved = end.through;
  }

  static async open(home: string): Promise<AuditLog> {
    const places = auditPlaces(home);
    const key = InstallationKey.open(home);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    const file = await open(places.log, flags, 0o600);
    try {
      const { end, isNew } = await findEnd(file, places, key);
      const log = new AuditLog(places, key, file, end);
      // What a crash has left without one, and before the first entry: a log with entries has a checkpoint.
      if (isNew) {
        await log.#checkpoint();
        for (const path of [places.checkpoint, places.log]) await syncNames(dirname(path));
      }
      return log;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** All events up to this one are audited, and would be so after a crash too. */
  get through(): number {
    return this.#saved;
  }

  /** Whether a crash now would have many events looked at again of which no entry tells. */
  isFarBehind(through: number): boolean {
    return through - this.#saved >= PLACE_EVERY;
  }

  /**
   * Resolves when these entries are on the disk, all of them, and the checkpoint behind them. One at a time. What fails leaves nothing that the next daemon, or the
   * next `open`, does not take back; nothing more can be added then.
   */
  async append(entries: readonly NewAuditEntry[], through: number): Promise<AuditEntry[]> {
    if (!this.#isOpen) throw failure("AUDIT_BROKEN", "The audit has to be opened again");
    if (entries.length === 0) {
      if (this.isFarBehind(through)) await this.place(through);
      return [];
    }
    this.#isOpen = false;
    await this.#requireUntouched();
    const signed = this.#sign(entries, through);
    const lines = Buffer.from(signed.map(entryLine).join(""));
    const last = signed.at(-1) ?? this.#end;
    // SECURITY: what was not written whole is taken back: part of a line would make the next one unreadable (G-111)
    try {
      await this.#file.appendFile(lines);
      await this.#file.datasync();
    } catch (error) {
      await this.#file.truncate(this.#end.bytes).catch(() => undefined);
      throw error;
    }
    this.#end = { sequence: last.sequence, hash: last.hash, through, bytes: this.#end.bytes + lines.length };
    await this.#checkpoint();
    this.#isOpen = true;
    return signed;
  }

  /** Remembers how far the events were looked at, where no entry tells it. */
  async place(through: number): Promise<void> {
    if (!this.#isOpen || through <= this.#saved) return;
    this.#end = { ...this.#end, through };
    await this.#checkpoint();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#file.close();
  }

  #sign(entries: readonly NewAuditEntry[], through: number): AuditEntry[] {
    let { sequence, hash } = this.#end;
    return entries.map((entry, index) => {
      const isLast = index === entries.length - 1;
      const signed = signEntry({ ...entry, sequence: ++sequence, through: isLast ? through : null }, hash, this.key);
      hash = signed.hash;
      return signed;
    });
  }

  async #checkpoint(): Promise<void> {
    const signed = signCheckpoint(this.#end, this.key);
    await writeFileAtomic(this.places.checkpoint, checkpointLine(signed));
    this.#saved = this.#end.through;
  }

  /** SECURITY: nothing is written behind what another hand has written, nor into a file that is no longer the audit (G-111). */
  async #requireUntouched(): Promise<void> {
    const [held, named] = await Promise.all([this.#file.stat(), lstat(this.places.log).catch(() => undefined)]);
    if (held.size === this.#end.bytes && named?.ino === held.ino && named.dev === held.dev) return;
    throw failure("AUDIT_BROKEN", `Somebody has changed the audit while it was in use: ${this.places.log}`);
  }
}

/** Where to go on. */
async function findEnd(
  file: FileHandle,
  places: AuditPlaces,
  key: InstallationKey,
): Promise<{ end: End; isNew: boolean }> {
  const { size } = await file.stat();
  const text = await readFile(places.checkpoint, "utf8").catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  const broken = (what: string) => failure("AUDIT_BROKEN", `The audit ${what}: ${places.log}`);
  if (text === undefined) {
    // Its checkpoint is written before its first entry.
    if (size > 0) throw broken("has lost its checkpoint");
    return { end: { ...BEGINNING, through: 0, bytes: 0 }, isNew: true };
  }
  const checkpoint = readCheckpoint(text, key.publicKey);
  // SECURITY: nothing is added behind an entry that was changed, or after an end that was cut off: the whole would look sound from there on (G-93)
  if (!checkpoint) throw broken("has a checkpoint that was changed, or is of another key");
  if (size < checkpoint.bytes) throw broken(`was cut off: it had ${checkpoint.sequence} entries`);
  if (!(await endsWith(file, checkpoint, key))) throw broken("is not as it was written at its end");
  const { end, isForeign } = await followOn(file, size, checkpoint, key);
  if (isForeign) throw broken("has something behind its end that is no entry of it");
  if (end.bytes < size) await file.truncate(end.bytes);
  return { end, isNew: end.bytes > checkpoint.bytes };
}

/** Whether the entry of the checkpoint is where it says. */
async function endsWith(file: FileHandle, checkpoint: Checkpoint, key: InstallationKey): Promise<boolean> {
  const { sequence, hash, bytes } = checkpoint;
  if (sequence === 0) return bytes === 0;
  const start = Math.max(0, bytes - MAX_LINE_BYTES - 1);
  const part = await readPart(file, start, bytes);
  const line = part.subarray(part.lastIndexOf(10, -2) + 1).toString("utf8");
  try {
    const { previous } = JSON.parse(line) as AuditEntry;
    const entry = readEntry(line, { sequence: sequence - 1, hash: previous }, key.publicKey);
    return typeof entry !== "string" && entry.hash === hash;
  } catch {
    return false;
  }
}

/**
 * What a daemon wrote before it died, behind its last checkpoint. Entries that were to be written together count when all of them are there: else they go, as part of a
 * line does, and are made again from the same events. Nobody was told of them.
 */
async function followOn(
  file: FileHandle,
  size: number,
  checkpoint: Checkpoint,
  key: InstallationKey,
): Promise<{ end: End; isForeign: boolean }> {
  const part = await readPart(file, checkpoint.bytes, size);
  let end: End = checkpoint;
  let last: Pick<End, "sequence" | "hash"> = checkpoint;
  let at = 0;
  for (let next = part.indexOf(10) + 1; next > 0; next = part.indexOf(10, at) + 1) {
    const entry = readEntry(part.toString("utf8", at, next), last, key.publicKey);
    if (typeof entry === "string") return { end, isForeign: true };
    last = entry;
    at = next;
    if (entry.through !== null)
      end = { sequence: entry.sequence, hash: entry.hash, through: entry.through, bytes: checkpoint.bytes + at };
  }
  return { end, isForeign: false };
}

/** A new file outlives a crash of the host when its folder is written out too. */
async function syncNames(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readPart(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const part = Buffer.alloc(to - from);
  const { bytesRead } = await file.read(part, 0, part.length, from);
  return part.subarray(0, bytesRead);
}
