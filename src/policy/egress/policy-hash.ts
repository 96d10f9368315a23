import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "../../base/canonical-json.ts";
import type { Egress } from "../../model/egress.ts";

/** One hash for one policy, whoever wrote it down. Of the file's words: no value of a credential is in it. */
export function policyHash(policy: Egress): string {
  const written = JSON.parse(JSON.stringify(policy)) as Json;
  return createHash("sha256").update(canonicalJson(written)).digest("hex");
}
