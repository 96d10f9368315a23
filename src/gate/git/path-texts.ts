import type { Scan } from "../../policy/dlp/detector.ts";
import { type PushFailure, failed } from "../../policy/git/push-failure.ts";

const PATHS_AT_ONCE = 64 * 1024;
/** Beyond that they are forgotten, and some are looked at twice. */
const MAX_REMEMBERED_PATHS = 100_000;

const MAX_FOUND = 500;

interface PathFinding {
  readonly path: string;
  readonly commit: string;
  readonly rule: string;
  readonly fingerprint: string;
}

/** Names of files may be secrets too; many are looked at together. */
export class PathTexts {
  readonly #scan: Scan;
  readonly #allowed: readonly string[];
  readonly #seen = new Set<string>();
  #waiting: { path: string; commit: string }[] = [];
  #size = 0;
  /** By their fingerprint and their path. */
  readonly #found = new Map<string, PathFinding>();

  constructor(scan: Scan, allowed: readonly string[]) {
    this.#scan = scan;
    this.#allowed = allowed;
  }

  add(path: string, commit: string): void {
    if (this.#seen.has(path)) return;
    if (this.#seen.size >= MAX_REMEMBERED_PATHS) this.#seen.clear();
    this.#seen.add(path);
    this.#waiting.push({ path, commit });
    this.#size += path.length + 1;
    if (this.#size > PATHS_AT_ONCE) this.#look();
  }

  failures(shown: (text: string) => string): PushFailure[] {
    this.#look();
    return [...this.#found.values()].map(({ path, rule, commit, fingerprint }) =>
      failed(
        "secrets",
        `${rule} in the name of ${shown(path)}, commit ${commit.slice(0, 12)}; fingerprint ${fingerprint}`,
      ),
    );
  }

  #look(): void {
    const text = Buffer.from(this.#waiting.map(({ path }) => path.replaceAll("\n", " ")).join("\n"));
    for (const { severity, rule, line, fingerprint } of this.#scan.file("", text)) {
      const one = this.#waiting[line - 1];
      if (severity === "high" && one && !this.#allowed.includes(fingerprint) && this.#found.size < MAX_FOUND)
        this.#found.set(`${fingerprint} ${one.path}`, { ...one, rule, fingerprint });
    }
    this.#waiting = [];
    this.#size = 0;
  }
}
