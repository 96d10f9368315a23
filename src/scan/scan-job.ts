import { createDetector } from "../policy/dlp/create-detector.ts";
import type { Scan } from "../policy/dlp/detector.ts";
import type { TextFinding } from "../policy/dlp/finding.ts";
import type { ScanFinding, ScanReport } from "./scan-finding.ts";
import { WindowedScan } from "../policy/dlp/windowed-scan.ts";

const MAX_FINDINGS = 10_000;
const MAX_SKIPPED = 1000;

/** What one run of the scanner has looked at and found. */
export class ScanJob {
  readonly #scan: Scan = createDetector({ known: [] }).scope();
  readonly #onProgress: (job: ScanJob) => void;
  readonly findings: ScanFinding[] = [];
  readonly skipped: ScanReport["skipped"] = [];
  files = 0;
  bytes = 0;
  commits = 0;
  found = 0;

  constructor(onProgress: (job: ScanJob) => void) {
    this.#onProgress = onProgress;
  }

  /** A file: its name, and what it holds as it comes. */
  async file(name: string, commit: string | null, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    this.files++;
    this.name(name, commit);
    const shown = this.#shown(name);
    const scan = new WindowedScan(this.#scan, name, (found) => this.#add(found, shown, "content", commit));
    for await (const chunk of content) {
      scan.push(chunk);
      this.bytes += chunk.length;
      this.#onProgress(this);
    }
    scan.end();
    this.#onProgress(this);
  }

  name(name: string, commit: string | null): void {
    for (const found of this.#scan.file(name, Buffer.from(name)))
      if (found.severity === "high") this.#add(found, this.#shown(name), "path", commit);
  }

  message(bytes: Buffer, commit: string): void {
    this.commits++;
    this.bytes += bytes.length;
    for (const found of this.#scan.file("", bytes))
      if (found.severity === "high") this.#add(found, null, "message", commit);
    this.#onProgress(this);
  }

  skip(name: string, reason: string): void {
    if (this.skipped.length < MAX_SKIPPED) this.skipped.push({ file: this.#shown(name), reason });
  }

  report(target: string, kind: ScanReport["kind"]): ScanReport {
    return {
      target,
      kind,
      file_count: this.files,
      byte_count: this.bytes,
      commit_count: this.commits,
      finding_count: this.found,
      findings: this.findings,
      truncated: this.found > this.findings.length,
      skipped: this.skipped,
    };
  }

  /** SECURITY: a name may be a secret too, and no finding repeats one (G-59) */
  #shown(name: string): string {
    return this.#scan.redactText("path", name).value;
  }

  #add(found: TextFinding, file: string | null, place: ScanFinding["place"], commit: string | null): void {
    this.found++;
    if (this.findings.length >= MAX_FINDINGS) return;
    const { line, column, rule, detector, view, fingerprint } = found;
    this.findings.push({ file, line, column, place, rule, detector, view, commit, fingerprint });
  }
}
