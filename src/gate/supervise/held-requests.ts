import { createHash } from "node:crypto";
import { ByteBudget } from "../../base/byte-budget.ts";
import { GRANT_SECONDS, WAIT_SECONDS } from "../../model/proposal-kinds.ts";
import type { Proposed } from "../../model/proposal.ts";
import type { Finding } from "../../policy/dlp/finding.ts";
import { requestShape } from "../../policy/supervise/grant-keys.ts";
import { type AskAnswer, AskRefused } from "./asks.ts";
import type { SuperviseGate } from "./supervise-gate.ts";

/** A request in which something was found, all of it at hand. */
export interface HeldRequest {
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** As it goes out, without credentials. */
  readonly target: string;
  /** Name and value in turns, without credentials. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Violations alone. */
  readonly findings: readonly Finding[];
  /** How place and path may be told. */
  readonly shown: { readonly host: string; readonly path: string };
}

/** Why it does not pass now. */
export interface RequestRefusal {
  readonly message: string;
  readonly hint: string;
  /** Null where nobody was asked. */
  readonly proposal_id: string | null;
}

/** Who decides about requests that a route holds. */
export interface HeldRequests {
  /** Undefined when it may pass. `gone` when its client has given up. */
  decide(request: HeldRequest, gone: AbortSignal): Promise<RequestRefusal | undefined>;
}

/** Nobody decides: such a request is refused. */
export const NO_ONE: HeldRequests = {
  decide: () => Promise.resolve({ message: "Nobody is there to let it pass", hint: PLAIN_HINT, proposal_id: null }),
};

const PLAIN_HINT = "Take the value out of the request; the operator can let it pass for this host";
/** SECURITY: what waits takes bounded memory; what comes beyond it is asked for and does not wait (G-104) */
const MOST_HELD = 16;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_FINDINGS = 64;
const MAX_WORD = 256;

/** Asks the operator, and holds the request as long as its client may bear. */
export class AskedRequests implements HeldRequests {
  readonly #supervise: SuperviseGate;
  readonly #waitMs: number;
  readonly #budget = new ByteBudget(MOST_BYTES);
  #held = 0;

  constructor(supervise: SuperviseGate, waitMs = WAIT_SECONDS * 1000) {
    this.#supervise = supervise;
    this.#waitMs = waitMs;
  }

  async decide(request: HeldRequest, gone: AbortSignal): Promise<RequestRefusal | undefined> {
    const places = [...new Set(request.findings.map(({ rule, place }) => `${rule} in the ${place}`))].join(", ");
    const proposed = proposalOf(request);
    // SECURITY: an approval for the run is known by what was found: of what nobody was shown nothing passes (G-181)
    if (proposed.findings.length > MOST_FINDINGS) return notAsked(places, "too many things were found in it");
    const isLetPass = () => this.#supervise.letPass("dlp-allow", [proposed.digest, requestShape(proposed)]);
    if (isLetPass()) return undefined;
    const { method, scheme, shown, port } = request;
    try {
      const answer = await this.#ask(
        {
          kind: "dlp-allow",
          justification: `The request has something in it that must not leave: ${places}`,
          proposed,
          command: `${method} ${scheme}://${shown.host}:${port}${shown.path}`,
        },
        request.body.length,
        gone,
      );
      return isApproved(answer) && isLetPass() ? undefined : refusalOf(answer, places);
    } catch (error) {
      if (!(error instanceof AskRefused)) throw error;
      return notAsked(places, error.message);
    }
  }

  async #ask(asked: Parameters<SuperviseGate["ask"]>[0], bytes: number, gone: AbortSignal): Promise<AskAnswer> {
    if (this.#held >= MOST_HELD || !this.#budget.take(bytes)) return await this.#supervise.ask(asked, 0, gone);
    this.#held++;
    try {
      return await this.#supervise.ask(asked, this.#waitMs, gone);
    } finally {
      this.#held--;
      this.#budget.give(bytes);
    }
  }
}

const notAsked = (places: string, why: string): RequestRefusal => ({
  message: `The request has something in it that must not leave (${places}), and the operator cannot be asked: ${why}`,
  hint: PLAIN_HINT,
  proposal_id: null,
});

const isApproved = ({ status }: AskAnswer): boolean => status === "approved" || status === "modified";

function refusalOf({ status, reason, proposal_id }: AskAnswer, places: string): RequestRefusal {
  const what = `The request has something in it that must not leave (${places})`;
  if (status === "rejected" || status === "expired")
    return {
      message: `${what}, and it was ${status}${reason === null ? "" : `: ${reason}`}`,
      hint: "Take the value out of the request",
      proposal_id,
    };
  if (status !== "pending")
    return {
      message: `${what}. ${proposal_id} was approved for one such request, which has passed`,
      hint: "Send it again to ask again",
      proposal_id,
    };
  const minutes = Math.round(GRANT_SECONDS / 60);
  return {
    message: `${what}. The operator has been asked, as ${proposal_id}, and has not answered yet`,
    hint: `Send the same request again later: when the operator approves ${proposal_id}, it passes once, within ${minutes} minutes`,
    proposal_id,
  };
}

/** What is asked, without any value that was found. */
function proposalOf(request: HeldRequest): Proposed<"dlp-allow"> {
  const { method, scheme, port, body, findings, shown } = request;
  return {
    digest: requestDigest(request),
    method: method.slice(0, MAX_WORD),
    scheme,
    host: shown.host.slice(0, MAX_WORD),
    port,
    path: shown.path.slice(0, 2048),
    body_bytes: body.length,
    findings: kindsOf(findings),
  };
}

/** Each once, however often it is there. */
function kindsOf(findings: readonly Finding[]): Proposed<"dlp-allow">["findings"] {
  const kinds = findings.map(({ detector, rule, name = null, place, view }) => ({
    detector,
    rule,
    name,
    place: place.slice(0, MAX_WORD),
    view: view.slice(0, MAX_WORD),
  }));
  return [...new Map(kinds.map((one) => [JSON.stringify(Object.values(one)), one])).values()];
}

/** Headers in which nothing was found may differ when it is sent again: a time, a count of tries. */
const OWN_PLACE = /^(?:path|query|body(?:$|:)|header:)/;

/** SECURITY: an approval is for this place, this body, and each header in which something was found (G-99) */
function requestDigest({ method, scheme, host, port, target, headers, body, findings }: HeldRequest): string {
  const isWhole = findings.every(({ place }) => OWN_PLACE.test(place));
  const found = new Set(findings.map(({ place }) => place));
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] ?? "").toLowerCase();
    if (!isWhole || found.has(`header:${name}`)) kept.push(name, headers[at + 1] ?? "");
  }
  const head = JSON.stringify([method, scheme, host, port, target, kept]);
  return createHash("sha256").update(head).update("\0").update(body).digest("hex");
}
