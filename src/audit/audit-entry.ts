import { createHash, type KeyObject } from "node:crypto";
import { canonicalJson, type Json } from "../base/canonical-json.ts";
import type { AuditEntry, AuditRecord } from "../model/audit.ts";
import { isSigned } from "./is-signed.ts";

/** Before the first entry. */
export const NO_HASH = "0".repeat(64);

/** An entry is one line of at most this. An event that it tells of is much shorter. */
export const MAX_LINE_BYTES = 256 * 1024;

export interface Signer {
  sign(data: Uint8Array): Buffer;
}

/** Which entry comes before the next one. */
export type Place = Pick<AuditEntry, "sequence" | "hash">;
export const BEGINNING: Place = { sequence: 0, hash: NO_HASH };

/** SECURITY: what is signed for the audit passes for nothing else, and nothing else passes for it (G-93). */
const signedText = (kind: "entry" | "checkpoint", hash: string): Buffer =>
  Buffer.from(`cloche audit ${kind} 1\n${hash}\n`);

/** SECURITY: a signature has one spelling: Node reads others too, and then a text that was changed would pass (G-93) */
function isSignedBy(data: Buffer, signature: string, publicKey: KeyObject): boolean {
  const bytes = Buffer.from(signature, "base64");
  return bytes.toString("base64") === signature && isSigned(data, bytes, publicKey);
}

/** Of everything in it but its own hash and signature; so of the hash before it, and by that of all entries before. */
const hashOf = (record: AuditRecord & { readonly previous: string }): string =>
  createHash("sha256")
    .update(canonicalJson(record as unknown as Json))
    .digest("hex");

export function signEntry(record: AuditRecord, previous: string, signer: Signer): AuditEntry {
  const hash = hashOf({ ...record, previous });
  return { ...record, previous, hash, signature: signer.sign(signedText("entry", hash)).toString("base64") };
}

export const entryLine = (entry: AuditEntry): string => `${canonicalJson(entry as unknown as Json)}\n`;

/** An entry from its line and its line break, when it follows on that hash and place and this key has signed it; else why not. */
export function readEntry(line: string, after: Place, publicKey: KeyObject): AuditEntry | string {
  let entry: AuditEntry;
  try {
    entry = JSON.parse(line) as AuditEntry;
    if (line !== entryLine(entry)) return "its text was changed";
  } catch {
    return "it is no entry";
  }
  const { hash, signature, ...rest } = entry;
  if (rest.sequence !== after.sequence + 1) return `its number is ${String(rest.sequence)}`;
  if (rest.previous !== after.hash) return "it does not follow on the entry before it";
  if (hash !== hashOf(rest)) return "its content was changed";
  if (!isSignedBy(signedText("entry", hash), signature, publicKey)) return "its signature is not of this key";
  return entry;
}

/** How far the audit has come, signed, and kept beside the log: a log whose end was cut off no longer reaches it. */
export interface Checkpoint extends Place {
  /** All events up to here were looked at, also those that no entry tells of. */
  readonly through: number;
  /** What the log takes up to the end of that entry. */
  readonly bytes: number;
  readonly signature: string;
}

const checkpointText = ({ sequence, hash, through, bytes }: Omit<Checkpoint, "signature">): Buffer =>
  signedText("checkpoint", [sequence, hash, through, bytes].join(" "));

export const signCheckpoint = (place: Omit<Checkpoint, "signature">, signer: Signer): Checkpoint => ({
  ...place,
  signature: signer.sign(checkpointText(place)).toString("base64"),
});

export const checkpointLine = ({ sequence, hash, through, bytes, signature }: Checkpoint): string =>
  `${JSON.stringify({ sequence, hash, through, bytes, signature })}\n`;

export function readCheckpoint(text: string, publicKey: KeyObject): Checkpoint | undefined {
  try {
    const checkpoint = JSON.parse(text) as Checkpoint;
    if (text.trimEnd() !== checkpointLine(checkpoint).trimEnd()) return undefined;
    return isSignedBy(checkpointText(checkpoint), checkpoint.signature, publicKey) ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}
