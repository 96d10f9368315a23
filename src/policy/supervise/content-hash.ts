import { createHash } from "node:crypto";
import { canonicalJson as canonical, type Json } from "../../base/canonical-json.ts";
import type { ProposalKind } from "../../model/proposal-kinds.ts";

/** The same value gives the same text, whatever order its keys came in, and whether what it does not have is left out or undefined. */
export const canonicalJson = (value: unknown): string => canonical(JSON.parse(JSON.stringify(value)) as Json);

export const hashOf = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex");

/** By which the same proposal is known again: its kind and its content, and of something that is held the digest of that. */
export function contentHash(kind: ProposalKind, proposed: unknown): string {
  const { digest } = proposed as { digest?: unknown };
  return hashOf([kind, typeof digest === "string" ? digest : proposed]);
}
