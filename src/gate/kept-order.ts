import { createHash } from "node:crypto";
import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import type { GateOrder } from "../model/gate-control.ts";

/**
 * The order in force, in two files in memory that the gate's keeper holds: a gate that is killed goes on with it. They are written in turns, each with a digest,
 * so that one that was killed while it wrote has the order before.
 */
export class KeptOrder {
  readonly #files: readonly number[];
  #last = 0;

  constructor(files: readonly number[]) {
    this.#files = files;
  }

  /** Undefined before the first. */
  read(): GateOrder | undefined {
    let newest: GateOrder | undefined;
    for (const [index, file] of this.#files.entries()) {
      const order = readOrder(file);
      if (!order || (newest && newest.revision >= order.revision)) continue;
      newest = order;
      this.#last = index;
    }
    return newest;
  }

  write(order: GateOrder): void {
    const next = (this.#last + 1) % this.#files.length;
    const file = this.#files[next] ?? -1;
    const text = JSON.stringify(order);
    ftruncateSync(file);
    writeSync(file, `${digest(text)}\n${text}`, 0);
    this.#last = next;
  }
}

function readOrder(file: number): GateOrder | undefined {
  const bytes = Buffer.alloc(fstatSync(file).size);
  for (let at = 0; at < bytes.length;) at += readSync(file, bytes, at, bytes.length - at, at) || bytes.length;
  const [sum, ...rest] = bytes.toString("utf8").split("\n");
  const text = rest.join("\n");
  return sum === digest(text) ? (JSON.parse(text) as GateOrder) : undefined;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
