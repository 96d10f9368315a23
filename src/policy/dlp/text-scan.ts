import { createHash } from "node:crypto";
import type { ByteScanner } from "./byte-scanner.ts";
import type { TextFinding } from "./finding.ts";
import { LineStarts } from "./line-starts.ts";
import type { ScanPolicy } from "./scan-policy.ts";
import { scanWhole } from "./whole-scan.ts";

export function scanFile(scanner: ByteScanner, policy: ScanPolicy, file: string, bytes: Uint8Array): TextFinding[] {
  const found = scanWhole(scanner, policy, file, bytes);
  if (found.length === 0) return [];
  const lines = new LineStarts(bytes);
  return found.map(({ finding, match }) => {
    const { detector, rule, name, severity, view, offset } = finding;
    const hash = createHash("sha256").update(`${rule}\n`);
    for (const { start, end } of match.pieces) hash.update(bytes.subarray(start, end));
    return {
      detector,
      rule,
      ...(name === undefined ? {} : { name }),
      severity,
      file,
      ...lines.placeOf(offset),
      view,
      fingerprint: hash.digest("hex").slice(0, 32),
    };
  });
}
