import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { errnoOf } from "../base/errors.ts";
import { whyUnread } from "../base/why-unread.ts";
import { failure } from "../model/error-codes.ts";
import { type Evidence, EVIDENCE_NAMESPACE, EVIDENCE_TYPE, type EvidenceVerified } from "../model/evidence.ts";
import { keyId, openStatement } from "./dsse.ts";
import { isSshSigned } from "./ssh-signature.ts";

const invalid = (path: string, why: string): Error =>
  failure("EVIDENCE_INVALID", `"${path}" is no valid evidence: ${why}`);

/** Whether that key has signed the file, all of it, as evidence. Needs nothing but the two; throws EVIDENCE_INVALID. */
export function verifyEvidence(path: string, publicKey: KeyObject): EvidenceVerified {
  const bytes = read(path);
  if (!bytes)
    throw failure("EVIDENCE_INVALID", `There is no file "${path}"`, {
      hint: "Name the file that `cloche evidence` wrote",
    });
  const text = bytes.toString("utf8");
  // SECURITY: bytes that are no text would read as other text (G-94)
  if (!Buffer.from(text).equals(bytes)) throw invalid(path, "it is no text");
  const opened = openStatement(text, publicKey);
  if ("problem" in opened) throw invalid(path, opened.problem);
  const evidence = evidenceOf(opened.statement);
  if (!evidence) throw invalid(path, "what is signed is another statement");
  const signature = read(`${path}.sig`);
  if (signature && !isSshSigned(bytes, EVIDENCE_NAMESPACE, signature.toString("latin1"), publicKey))
    throw invalid(path, `the signature beside it does not fit: ${path}.sig`);
  const { run, made_at, missing } = evidence;
  const ssh_signature = signature ? "valid" : "absent";
  return { path, valid: true, identity: run.identity, made_at, key_id: keyId(publicKey), ssh_signature, missing };
}

function evidenceOf(statement: string): Evidence | undefined {
  const { predicateType, predicate } = JSON.parse(statement) as { predicateType?: unknown; predicate?: Evidence };
  return predicateType === EVIDENCE_TYPE ? predicate : undefined;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw failure("EVIDENCE_INVALID", `Cannot read "${path}": ${whyUnread(error)}`);
  }
}
