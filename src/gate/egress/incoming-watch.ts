import { isViolation } from "../../policy/dlp/finding.ts";
import type { ExchangeRecord } from "./exchange-record.ts";
import type { AnswerSink } from "./incoming-body.ts";
import type { RouteInForce } from "./policy-in-force.ts";

/** An answer has words in it that are meant for a model, where the route lets none through. */
export class InjectionFound extends Error {
  constructor(rules: readonly string[]) {
    super([...new Set(rules)].join(", "));
  }
}

/** Sees each part of an answer before it goes on; throws to end it. */
export type Watch = ((chunk: Buffer) => void) | null;

/** Markers of an injection are told; where a route asks for it, nothing of the answer goes on from there (G-53). */
export function injectionWatch({ inbound, blocksInjections }: RouteInForce, record: ExchangeRecord): Watch {
  if (!inbound) return null;
  const scan = inbound.body({ mode: "find", place: "answer", hold: false });
  let known = 0;
  return (chunk) => {
    scan.push(chunk);
    const found = scan.findings.slice(known);
    if (found.length === 0) return;
    known += found.length;
    record.found(found);
    // SECURITY: what came with the words does not reach the model either (G-53)
    if (blocksInjections && found.some(isViolation)) throw new InjectionFound(found.map(({ rule }) => rule));
  };
}

export function watchBoth(one: Watch, other: Watch): Watch {
  if (!one || !other) return one ?? other;
  return (chunk) => {
    one(chunk);
    other(chunk);
  };
}

/** The same sink, whose head is written with the first bytes: an answer that is refused at once can still be another one. */
export class HeadAtFirstByte implements AnswerSink {
  readonly #sink: AnswerSink;
  readonly #writeHead: () => void;
  #isBegun = false;

  constructor(sink: AnswerSink, writeHead: () => void) {
    this.#sink = sink;
    this.#writeHead = writeHead;
  }

  begin(): void {
    if (!this.#isBegun) this.#writeHead();
    this.#isBegun = true;
  }

  write(chunk: Uint8Array): boolean {
    this.begin();
    return this.#sink.write(chunk);
  }

  on(event: "drain" | "close", act: () => void): unknown {
    return this.#sink.on(event, act);
  }

  off(event: "drain" | "close", act: () => void): unknown {
    return this.#sink.off(event, act);
  }

  get destroyed(): boolean {
    return this.#sink.destroyed;
  }
}
