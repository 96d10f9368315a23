import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { errnoOf } from "../base/errors.ts";
import type { AuditEntry, AuditVerified } from "../model/audit.ts";
import { BEGINNING, type Checkpoint, type Place, readCheckpoint, readEntry } from "./audit-entry.ts";
import type { AuditPlaces } from "./audit-places.ts";
import { keyId } from "./dsse.ts";
import { readLines } from "./read-lines.ts";

type Problem = AuditVerified["first_bad"];

/** Reads the whole audit. Names the first entry that is not as it was written, or the first that is missing. */
export async function verifyAudit(places: AuditPlaces, publicKey: KeyObject): Promise<AuditVerified> {
  // First: what is added while this reads comes after it.
  const text = await textOf(places.checkpoint);
  const walk = new AuditWalk(publicKey, text);
  for await (const lines of readLines(places.log)) if (!walk.take(lines)) break;
  return walk.verdict(places.log);
}

/** The same of a file that `exportAudit` wrote: its last line is the checkpoint. */
export async function verifyExport(path: string, publicKey: KeyObject): Promise<AuditVerified> {
  let last = "";
  for await (const lines of readLines(path)) last = lines.at(-1) ?? last;
  const hasCheckpoint = readCheckpoint(last, publicKey) !== undefined;
  const walk = new AuditWalk(publicKey, hasCheckpoint ? last : undefined);
  let held: string[] = [];
  for await (const lines of readLines(path)) {
    if (!walk.take(held)) break;
    held = lines;
  }
  walk.take(hasCheckpoint ? held.slice(0, -1) : held);
  return walk.verdict(path);
}

class AuditWalk {
  readonly #publicKey: KeyObject;
  readonly #checkpoint: Checkpoint | "removed" | "changed";
  #last: Place = BEGINNING;
  #bytes = 0;
  #bad: Problem = null;
  #reaches: boolean;

  constructor(publicKey: KeyObject, checkpoint: string | undefined) {
    this.#publicKey = publicKey;
    this.#checkpoint = checkpoint === undefined ? "removed" : (readCheckpoint(checkpoint, publicKey) ?? "changed");
    this.#reaches = this.#isCheckpoint();
  }

  /** False once something is wrong: nothing after it can be told. */
  take(lines: readonly string[]): boolean {
    for (const line of lines) {
      if (this.#bad) return false;
      // Behind the checkpoint a line may be on its way to the disk, or be what a daemon wrote when it died.
      const isPart = this.#reaches && !line.endsWith("\n");
      if (isPart && !isWholeJson(line)) break;
      // SECURITY: a whole entry without its line break is no such line unless it is one of this log (G-93)
      const entry = readEntry(isPart ? `${line}\n` : line, this.#last, this.#publicKey);
      if (isPart && typeof entry !== "string") break;
      if (typeof entry === "string") this.#bad = { sequence: this.#last.sequence + 1, problem: entry };
      else {
        this.#last = entry;
        this.#bytes += Buffer.byteLength(line);
        this.#reaches ||= this.#isCheckpoint();
      }
    }
    return !this.#bad;
  }

  verdict(path: string): AuditVerified {
    const first_bad = this.#bad ?? this.#atItsEnd();
    return { path, valid: first_bad === null, count: this.#last.sequence, first_bad, key_id: keyId(this.#publicKey) };
  }

  /** SECURITY: a log that ends early looks whole; what it has to reach is kept beside it (G-93) */
  #atItsEnd(): Problem {
    const { sequence } = this.#last;
    const checkpoint = this.#checkpoint;
    if (checkpoint === "removed") return sequence === 0 ? null : { sequence, problem: "its checkpoint was removed" };
    if (checkpoint === "changed") return { sequence, problem: "its checkpoint was changed, or is of another key" };
    if (checkpoint.sequence > sequence)
      return { sequence: sequence + 1, problem: `it is missing: there were ${checkpoint.sequence} entries` };
    return this.#reaches ? null : { sequence: checkpoint.sequence, problem: "its checkpoint knows another entry here" };
  }

  #isCheckpoint(): boolean {
    const checkpoint = this.#checkpoint;
    if (typeof checkpoint === "string" || checkpoint.sequence !== this.#last.sequence) return false;
    return checkpoint.hash === this.#last.hash && checkpoint.bytes === this.#bytes;
  }
}

/** The entries of an audit, as they are written, whether or not they are as they were. */
export async function* auditEntries(path: string): AsyncGenerator<AuditEntry, void> {
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      // SECURITY: what has no end is no entry yet, whatever it says (G-93)
      if (!line.endsWith("\n")) continue;
      try {
        yield JSON.parse(line) as AuditEntry;
      } catch {
        // told by `verifyAudit`
      }
    }
  }
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
