import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { KeyObject } from "node:crypto";
import { failure } from "../model/error-codes.ts";
import { readCheckpoint } from "./audit-entry.ts";
import type { AuditPlaces } from "./audit-places.ts";
import { writeOutput } from "./output-file.ts";

/** The entries as they are, byte for byte, and on the last line the checkpoint: enough for somebody who has the public key. */
export async function exportAudit(places: AuditPlaces, publicKey: KeyObject, output: string): Promise<void> {
  const text = await readFile(places.checkpoint, "utf8").catch(() => "");
  const checkpoint = readCheckpoint(text, publicKey);
  if (!checkpoint) throw failure("AUDIT_BROKEN", `The audit has no checkpoint of this key: ${places.checkpoint}`);
  await writeOutput(output, whole(places.log, checkpoint.bytes, text));
}

async function* whole(log: string, bytes: number, checkpoint: string): AsyncGenerator<Uint8Array, void> {
  if (bytes > 0) for await (const piece of createReadStream(log, { end: bytes - 1 })) yield piece as Buffer;
  yield Buffer.from(checkpoint);
}
