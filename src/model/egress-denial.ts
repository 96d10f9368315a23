/** What a gate answers in an upstream's place. */
export const DENIAL_CODES = {
  /** No route lets it pass. */
  EGRESS_DENIED: 403,
  /** It would have taken something along that must not leave. */
  DLP_BLOCKED: 403,
  /** The run has used up what it may. */
  BUDGET_USED_UP: 429,
  /** There is no one way to read it. */
  BAD_REQUEST: 400,
  /** The upstream, or the way there, failed. */
  UPSTREAM_FAILED: 502,
  /** The credential of the route is not there now. */
  CREDENTIAL_UNAVAILABLE: 502,
  /** The gate has more to do than it may. */
  GATE_BUSY: 503,
} as const;
export type DenialCode = keyof typeof DENIAL_CODES;

export interface Denial {
  readonly code: DenialCode;
  readonly message: string;
  readonly host: string | null;
  readonly path: string | null;
  /** The route that decided; null when none did. */
  readonly rule: string | null;
  readonly hint: string;
  /** Where the operator was asked. */
  readonly proposal_id?: string;
}
