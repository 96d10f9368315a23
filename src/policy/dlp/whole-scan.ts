import type { ByteScanner } from "./byte-scanner.ts";
import { isViolation, type Finding } from "./finding.ts";
import { restOfKey } from "./key-rest.ts";
import { mask, maskRest } from "./mask.ts";
import { scanPacked } from "./packed-text.ts";
import { isBetter, keyOf, type ScanPolicy } from "./scan-policy.ts";
import { endOf, isEncodedMatch, type Match } from "./match.ts";

export interface Found {
  readonly finding: Finding;
  readonly match: Match;
}

/** Everything in some bytes that are all there, in the order of their places. */
export function scanWhole(scanner: ByteScanner, policy: ScanPolicy, place: string, bytes: Uint8Array): Found[] {
  let found: Map<string, Found> | undefined;
  const take = (match: Match) => {
    if (!policy.wants(match, bytes)) return;
    const finding = policy.toFinding(match, place, 0);
    const key = keyOf(finding);
    if (isBetter(finding, found?.get(key)?.finding)) (found ??= new Map<string, Found>()).set(key, { finding, match });
  };
  scanner.scan(bytes, 0, bytes.length, take);
  scanPacked(scanner, bytes, take);
  return found === undefined ? [] : [...found.values()].sort((one, other) => one.finding.offset - other.finding.offset);
}

/** The same bytes when there is nothing to overwrite, otherwise a copy. */
export function redactWhole(policy: ScanPolicy, bytes: Uint8Array, found: readonly Found[]): Uint8Array {
  const violations = found.filter(({ finding }) => isViolation(finding));
  if (violations.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  for (const { match } of violations) {
    mask(copy, match.pieces);
    // SECURITY: a key that is longer than its pattern does not leave without its head (G-73)
    if (policy.runsOn(match)) maskRest(copy, endOf(match), restOfKey(copy, endOf(match), isEncodedMatch(match)).end);
  }
  return copy;
}
