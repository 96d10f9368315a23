import { createHash } from "node:crypto";
import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import type { GateOrder } from "../model/gate-control.ts";
import type { KeptSupervise } from "./supervise/supervise-gate.ts";
import type { AuthorityKeys } from "./tls/authority.ts";

/** What the next gate goes on with. */
export interface KeptState extends GateOrder {
  /** The sandbox trusts these. */
  readonly authority: AuthorityKeys | null;
  /** What was asked for, and what was let pass. */
  readonly supervise: KeptSupervise;
}

/** Counts what was written, whatever of it is new. */
interface Written {
  readonly serial: number;
  readonly state: KeptState;
}

/**
 * The order in force and what goes with it, in two files in memory that the gate's keeper holds: a gate that is killed goes on with it. They are written in turns, each with a digest,
 * so that one that was killed while it wrote has the order before.
 */
export class KeptOrder {
  readonly #files: readonly number[];
  #last = 0;
  #serial = 0;

  constructor(files: readonly number[]) {
    this.#files = files;
  }

  /** Undefined before the first. */
  read(): KeptState | undefined {
    let newest: Written | undefined;
    for (const [index, file] of this.#files.entries()) {
      const written = readWritten(file);
      if (!written || (newest && newest.serial >= written.serial)) continue;
      newest = written;
      this.#last = index;
    }
    this.#serial = newest?.serial ?? 0;
    return newest?.state;
  }

  write(state: KeptState): void {
    const next = (this.#last + 1) % this.#files.length;
    const file = this.#files[next] ?? -1;
    const written: Written = { serial: ++this.#serial, state };
    const text = JSON.stringify(written);
    ftruncateSync(file);
    const bytes = Buffer.from(`${digest(text)}\n${text}`);
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, at);
    this.#last = next;
  }
}

function readWritten(file: number): Written | undefined {
  const bytes = Buffer.alloc(fstatSync(file).size);
  for (let at = 0; at < bytes.length;) at += readSync(file, bytes, at, bytes.length - at, at) || bytes.length;
  const [sum, ...rest] = bytes.toString("utf8").split("\n");
  const text = rest.join("\n");
  return sum === digest(text) ? (JSON.parse(text) as Written) : undefined;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
