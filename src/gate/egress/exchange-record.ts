import type { Denial } from "../../model/egress-denial.ts";
import type { ProviderShape } from "../../model/egress-order.ts";
import type { EgressFinding } from "../../model/event.ts";
import type { ModelUsage } from "../../model/model-usage.ts";
import type { Finding } from "../../policy/dlp/finding.ts";
import type { EgressEvents } from "./egress-events.ts";

export interface RecordHead {
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Without its query, and without what must not be repeated. */
  readonly path: string;
}

const MAX_FINDINGS = 20;
/** A sandbox may choose the words. */
const MAX_TEXT = 2048;

/** One request at the gate, told once, when it is over. */
export class ExchangeRecord {
  head: RecordHead;
  rule: string | null = null;
  /** Whose words a refusal is in. */
  provider: ProviderShape | null = null;
  injected = false;
  bytesSent = 0;
  bytesReceived = 0;
  /** What a model's answer said of itself. */
  modelUsage: ModelUsage | null = null;
  readonly findings: EgressFinding[] = [];
  readonly #events: EgressEvents;
  readonly #since = performance.now();
  #told = false;

  constructor(events: EgressEvents, head: RecordHead) {
    this.#events = events;
    this.head = head;
  }

  found(findings: readonly Finding[]): void {
    for (const { detector, rule, name = null, place, view } of findings)
      if (this.findings.length < MAX_FINDINGS) this.findings.push({ detector, rule, name, place, view });
  }

  passed(status: number): void {
    this.#tell({ kind: "egress.request", status });
  }

  denied({ code }: Denial): void {
    this.#tell({ kind: "egress.denied", code });
  }

  #tell(outcome: { kind: "egress.request"; status: number } | { kind: "egress.denied"; code: Denial["code"] }): void {
    if (this.#told) return;
    this.#told = true;
    if (!this.#events.isWanted(outcome.kind, this.findings, this.modelUsage)) return;
    const { method, host, port, path } = this.head;
    this.#events.record({
      ...outcome,
      method: method.slice(0, 32),
      host: host.slice(0, 256),
      port,
      path: path.slice(0, MAX_TEXT),
      rule: this.rule,
      bytes_sent: this.bytesSent,
      bytes_received: this.bytesReceived,
      duration_ms: Math.round((performance.now() - this.#since) * 10) / 10,
      injected: this.injected,
      findings: this.findings,
      model_usage: this.modelUsage,
    });
  }
}
