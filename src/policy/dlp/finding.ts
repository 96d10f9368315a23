/**
 * What a scan found. It says where and by which rule, never what: no field holds the value or a part of it, so a finding can go into any log, event or answer.
 */
export interface Finding {
  readonly detector: DetectorName;
  /** Id of the rule: `known-secret`, `canary`, `stand-in`, or one of the rules in `rules/`. */
  readonly rule: string;
  /** Which of the known values: the name of its variable. */
  readonly name?: string;
  readonly severity: Severity;
  /** Where, in the caller's own words: `host`, `path`, `query`, `header:cookie`, `body`. */
  readonly place: string;
  /** Bytes (of a text: characters) from the start of what was given to its first one; the start of the first piece, when it is in several. */
  readonly offset: number;
  /** From there to its end. */
  readonly length: number;
  /** How it was written, the outermost first: `raw`, `base64`, `hex of base64`, `escaped`, `separated`, `joined`. */
  readonly view: string;
}

/** What is found in a whole file, message or name: for pushes and for `cloche scan`. No comment in the text silences anything. */
export interface TextFinding {
  readonly detector: DetectorName;
  readonly rule: string;
  readonly name?: string;
  readonly severity: Severity;
  /** The caller's name for what was scanned. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly view: string;
  /**
   * A hash of the rule and of the bytes as they stand: the same secret, written the same way, has the same one in every file and commit, so that an allow list can name it.
   * It does not tell a random value; a short password could be guessed from it, so it belongs where the code is.
   */
  readonly fingerprint: string;
}

/** `block` and `redact` are for `high`; a `hint` is never more than a line in a log. `medium` is a warning, which only markers of injections use. */
export type Severity = "high" | "medium" | "hint";

/** What a route may list in `outbound_detectors`. Without a list all are on but `entropy`. */
export const OUTBOUND_DETECTORS = [
  "known_secrets",
  "canary",
  "stand_ins",
  "tokens",
  "private_keys",
  "entropy",
] as const;
/** What a route may list in `inbound_detectors`: to be told of markers of an injection, or to have the answer end there too. The echo of an injected credential is always taken out and is no matter of choice. */
export const INBOUND_DETECTORS = ["injection", "injection_block"] as const;

export type OutboundDetector = (typeof OUTBOUND_DETECTORS)[number];
export type InboundDetector = (typeof INBOUND_DETECTORS)[number];
export type DetectorName = OutboundDetector | InboundDetector;

/** What stops a request, or is taken out of it. */
export const isViolation = (finding: Finding): boolean => finding.severity === "high";
