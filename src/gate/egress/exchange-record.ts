import type { Denial } from "../../model/egress-denial.ts";
import type { ProviderShape } from "../../model/egress-order.ts";
import type { EgressFinding } from "../../model/event.ts";
import type { EgressEvent } from "../../model/gate-control.ts";
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

type Outcome = { kind: "egress.request"; status: number } | { kind: "egress.denied"; code: Denial["code"] };

const MAX_FINDINGS = 20;
/** A sandbox may choose the words. */
const MAX_TEXT = 2048;
const MAX_HOST = 256;

/** One request at the gate, told once, when it is over. */
export class ExchangeRecord {
  head: RecordHead;
  rule: string | null = null;
  /** Whose words a refusal is in. */
  provider: ProviderShape | null = null;
  /** Names of what was put in. */
  credentials: readonly string[] = [];
  bytesSent = 0;
  bytesReceived = 0;
  /** What a model's answer said of itself. */
  modelUsage: ModelUsage | null = null;
  /** The budget knows of the request. */
  isCounted = false;
  readonly findings: EgressFinding[] = [];
  readonly #events: EgressEvents;
  #since = performance.now();
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

  /** A model's answer over a connection that stays: what came since the last one is told with it. `isCounted`: the budget knows of the request. */
  answered(usage: ModelUsage, isCounted: boolean): void {
    if (this.#told) return;
    this.#events.record(this.#event({ kind: "egress.request", status: 101 }, usage), isCounted);
    this.findings.length = 0;
    this.bytesSent = 0;
    this.bytesReceived = 0;
    this.#since = performance.now();
  }

  #tell(outcome: Outcome): void {
    if (this.#told) return;
    this.#told = true;
    const { findings, credentials, modelUsage: model_usage } = this;
    if (outcome.kind === "egress.denied" && outcome.code === "EGRESS_DENIED") this.#events.onRefused(this.head);
    if (this.#events.isWanted({ kind: outcome.kind, findings, model_usage })) {
      this.#events.record(this.#event(outcome, model_usage), this.isCounted);
      return;
    }
    const { host, port } = this.head;
    this.#events.used(credentials, host.slice(0, MAX_HOST), port);
  }

  #event(outcome: Outcome, model_usage: ModelUsage | null): EgressEvent {
    const { credentials } = this;
    const { method, host, port, path } = this.head;
    return {
      ...outcome,
      method: method.slice(0, 32),
      host: host.slice(0, MAX_HOST),
      port,
      path: path.slice(0, MAX_TEXT),
      rule: this.rule,
      bytes_sent: this.bytesSent,
      bytes_received: this.bytesReceived,
      duration_ms: Math.round((performance.now() - this.#since) * 10) / 10,
      injected: credentials.length > 0,
      credentials,
      findings: [...this.findings],
      model_usage,
    };
  }
}
