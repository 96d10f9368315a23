import type { ByteScanner } from "./byte-scanner.ts";
import { isViolation, type Finding } from "./finding.ts";
import { mask } from "./mask.ts";
import { isBetter, keyOf, type ScanPolicy } from "./scan-policy.ts";
import type { Match } from "./match.ts";

export interface Found {
  readonly finding: Finding;
  readonly match: Match;
}

/** Everything in some bytes that are all there, in the order of their places. */
export function scanWhole(scanner: ByteScanner, policy: ScanPolicy, place: string, bytes: Uint8Array): Found[] {
  let found: Map<string, Found> | undefined;
  scanner.scan(bytes, 0, bytes.length, (match) => {
    if (!policy.wants(match, bytes)) return;
    const finding = policy.toFinding(match, place, 0);
    const key = keyOf(finding);
    if (isBetter(finding, found?.get(key)?.finding)) (found ??= new Map<string, Found>()).set(key, { finding, match });
  });
  return found === undefined ? [] : [...found.values()].sort((one, other) => one.finding.offset - other.finding.offset);
}

/** The same bytes when there is nothing to overwrite, otherwise a copy. */
export function redactWhole(bytes: Uint8Array, found: readonly Found[]): Uint8Array {
  const violations = found.filter(({ finding }) => isViolation(finding));
  if (violations.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  for (const { match } of violations) mask(copy, match.pieces);
  return copy;
}
