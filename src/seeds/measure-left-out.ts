import { lstatSync, opendirSync } from "node:fs";
import type { LeftOut } from "../model/seed-content.ts";
import { joined, shown, toFs, type BytePath } from "./byte-path.ts";
import type { IgnoredFound } from "./scan.ts";

/** Names that are looked at, of all that stayed together and of one folder: enough to tell a large one, and quick. */
const MOST_NAMES = 4000;
const MOST_IN_ONE = 1000;
const SHOWN = 5;
const SHOWN_SECRETS = 20;

type Measured = LeftOut["largest"][number];

/** How much stayed at home, as far as that is cheap; null when nothing did. */
export function measureLeftOut(root: BytePath, { left, leftSecrets }: IgnoredFound): LeftOut | null {
  if (left.length === 0 && leftSecrets.length === 0) return null;
  let names = MOST_NAMES;
  const measured = left.map((path): Measured => {
    const counter = new Counter(Math.min(names, MOST_IN_ONE));
    counter.count(joined(root, path));
    names -= counter.names;
    return { path: shown(path), files: counter.files, size_bytes: counter.bytes, is_complete: counter.isComplete };
  });
  const largest = measured
    .filter(({ files }) => files > 0)
    .sort((one, other) => other.files - one.files || other.size_bytes - one.size_bytes);
  return {
    entries: left.length,
    files: sum(measured.map(({ files }) => files)),
    size_bytes: sum(measured.map(({ size_bytes }) => size_bytes)),
    is_complete: measured.every(({ is_complete }) => is_complete),
    largest: largest.slice(0, SHOWN),
    ...shownSecrets(leftSecrets),
  };
}

/** The first of them, and how many there are. */
export function shownSecrets(paths: readonly BytePath[]): { secrets: string[]; secret_count: number } {
  return { secrets: paths.slice(0, SHOWN_SECRETS).map(shown), secret_count: paths.length };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

class Counter {
  files = 0;
  bytes = 0;
  names = 0;
  isComplete = true;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  count(path: BytePath): void {
    const pending = [path];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (this.names >= this.#most) {
        this.isComplete = false;
        return;
      }
      this.#look(at, pending);
    }
  }

  /** What nobody may look into is not counted, and that is all: it stays at home anyway. */
  #look(path: BytePath, pending: BytePath[]): void {
    try {
      if (!path.endsWith("/")) {
        this.names += 1;
        this.files += 1;
        this.bytes += lstatSync(toFs(path)).size;
        return;
      }
      this.#names(path, pending);
    } catch {
      this.isComplete = false;
    }
  }

  #names(folder: BytePath, pending: BytePath[]): void {
    const opened = opendirSync(toFs(folder.slice(0, -1)), { encoding: "latin1" as BufferEncoding, bufferSize: 256 });
    try {
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
        const path = folder + entry.name;
        pending.push(entry.isDirectory() ? `${path}/` : path);
        // What is pending is looked at one by one; no more of it is needed than that.
        if (this.names + pending.length > this.#most) {
          this.isComplete = false;
          return;
        }
      }
      this.names += 1;
    } finally {
      opened.closeSync();
    }
  }
}
