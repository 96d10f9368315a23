import type { ClocheEvent, EventOf } from "../../model/event.ts";
import type { Evidence, EvidenceHost, EvidenceRun, Listed } from "../../model/evidence.ts";
import { addUsage, NO_MODEL_USAGE } from "../../model/model-usage.ts";

/** Of each list: what a person reads; the counts are of all. */
const MAX_LISTED = 5000;

const HEAD: ReadonlySet<string> = new Set(["sequence", "time", "kind", "workspace_id", "identity"]);

const none = <One>(): Listed<One> => ({ count: 0, listed: [] });

function list<One>(into: Listed<One>, one: One): One {
  into.count++;
  if (into.listed.length < MAX_LISTED) into.listed.push(one);
  return one;
}

type FromEvents = Omit<Evidence, "made_at" | "cloche_version" | "diff" | "audit" | "missing">;
type Use = Evidence["credential_uses"]["listed"][number];

/** Puts together what the events of one run tell. */
export class GatheredEvidence {
  readonly #told: FromEvents;
  readonly #hosts = new Map<string, EvidenceHost>();
  readonly #uses = new Map<string, Use>();
  readonly #commands = new Map<string, Evidence["commands"]["listed"][number]>();
  readonly #proposals = new Map<string, Record<string, unknown>>();
  #lost = 0;

  constructor(identity: string) {
    const unknown = { agent_name: null, backend: null, label: null, operator: null, environment: null };
    const run: EvidenceRun = {
      identity,
      workspace_id: null,
      ...unknown,
      bottle_names: [],
      environment_digest: null,
      started_at: null,
      resumed_at: null,
      ended_at: null,
      exit_code: null,
    };
    this.#told = {
      run,
      policy: { hash: null, changes: [] },
      commands: none(),
      egress: { hosts: none(), denied: none() },
      credential_uses: none(),
      pushes: none(),
      approvals: none(),
      findings: none(),
      model_usage: NO_MODEL_USAGE,
    };
  }

  get told(): FromEvents {
    return this.#told;
  }

  /** What the events themselves say that nobody can tell any more. */
  get missing(): string[] {
    const count = this.#lost;
    return count === 0
      ? []
      : [`${count} ${count === 1 ? "event" : "events"} of its gate, which no daemon took in time`];
  }

  add(event: ClocheEvent): void {
    switch (event.kind) {
      case "run.started":
        this.#started(event);
        break;
      case "run.ended":
        Object.assign(this.#told.run, { ended_at: event.time, exit_code: event.exit_code });
        break;
      case "policy.changed": {
        const { time, operator, proposal_id, before_hash, after_hash } = event;
        this.#told.policy.changes.push({ time, operator, proposal_id, before_hash, after_hash });
        break;
      }
      case "command.started":
      case "command.ended":
        this.#command(event);
        break;
      case "egress.request":
      case "egress.denied":
        this.#request(event);
        break;
      case "credential.used":
        this.#used(event.credentials, event.host, event.time, event.requests);
        break;
      case "push.accepted":
      case "push.held":
      case "push.rejected": {
        const { time, kind, repo, refs } = event;
        const outcome = kind.slice("push.".length);
        list(this.#told.pushes, { time, outcome, repo, refs, reason: "reason" in event ? event.reason : null });
        break;
      }
      case "proposal.created":
      case "proposal.decided":
        this.#proposal(event);
        break;
      // SECURITY: an agent that has its gate tell more than it keeps does not get evidence that looks whole (G-188)
      case "egress.lost":
        this.#lost += event.count;
        break;
      default:
    }
  }

  #started(event: EventOf<"run.started">): void {
    const { run, policy } = this.#told;
    const { agent_name, bottle_names, backend, label, operator, environment, environment_digest, workspace_id } = event;
    Object.assign(run, { agent_name, bottle_names, backend, label, environment, environment_digest, workspace_id });
    Object.assign(run, { ended_at: null, exit_code: null, operator });
    if (event.resumed) run.resumed_at = event.time;
    else run.started_at = event.time;
    policy.hash ??= event.policy_hash;
  }

  #command(event: EventOf<"command.started" | "command.ended">): void {
    const key = `${event.workspace_id ?? ""} ${event.command_sequence}`;
    if (event.kind === "command.started") {
      const { time, command, cwd } = event;
      const told = { time, command, cwd, state: "running", exit_code: null, duration_ms: null };
      this.#commands.set(key, list(this.#told.commands, told));
      return;
    }
    const known = this.#commands.get(key);
    const { state, exit_code, duration_ms } = event;
    if (known) Object.assign(known, { state, ...(state === "done" && { exit_code, duration_ms }) });
    this.#commands.delete(key);
  }

  #request(event: EventOf<"egress.request" | "egress.denied">): void {
    const { time, host, port, method, path, findings, credentials, model_usage } = event;
    const isDenied = event.kind === "egress.denied";
    const { egress } = this.#told;
    const seen = this.#hosts.get(host) ?? { host, requests: 0, denied: 0, bytes_sent: 0, bytes_received: 0 };
    if (!this.#hosts.has(host)) this.#hosts.set(host, list(egress.hosts, seen));
    seen.requests++;
    seen.bytes_sent += event.bytes_sent;
    seen.bytes_received += event.bytes_received;
    if (isDenied) {
      seen.denied++;
      list(egress.denied, { time, code: event.code, method, host, port, path });
    }
    for (const finding of findings) list(this.#told.findings, { ...finding, time, host, denied: isDenied });
    if (credentials.length > 0) this.#used(credentials, host, time, 1);
    if (model_usage) this.#told.model_usage = addUsage(this.#told.model_usage, model_usage);
  }

  #used(credentials: string[], host: string, time: number, requests: number): void {
    const key = JSON.stringify([credentials, host]);
    const use = this.#uses.get(key) ?? { credentials, host, requests: 0, first_at: time, last_at: time };
    if (!this.#uses.has(key)) this.#uses.set(key, list(this.#told.credential_uses, use));
    use.requests += requests;
    use.last_at = time;
  }

  #proposal(event: EventOf<"proposal.created" | "proposal.decided">): void {
    const { kind, time } = event;
    const facts = Object.fromEntries(Object.entries(event).filter(([name]) => !HEAD.has(name)));
    const known = this.#proposals.get(event.proposal_id);
    const at = kind === "proposal.created" ? { created_at: time } : { decided_at: time };
    if (known) Object.assign(known, facts, at);
    else this.#proposals.set(event.proposal_id, list(this.#told.approvals, { ...facts, ...at }));
  }
}
