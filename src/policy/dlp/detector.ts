import type { DetectorName, Finding, TextFinding } from "./finding.ts";

/**
 * The seam between a gate and the engine.
 *
 *     const detector = createDetector({ known: [...], rules: TOKEN_RULES });          // once per policy, some milliseconds
 *     const scan = detector.scope({ detectors: [...], pass: ["GITHUB_TOKEN"] });      // once per route
 *     const memory = scan.memory();                                                   // once per host that is talked to, kept by the gate
 *
 *     const head = scan.head({ host, path, query, headers }, memory);                 // per request, before anything is injected
 *     const body = scan.body({ mode: "redact", memory, head });                       // decoded bytes: the gate undoes gzip, br, zstd, frames
 *     for await (const chunk of request) for (const part of body.push(chunk)) upstream.write(part);
 *     for (const part of body.end()) upstream.write(part);
 *
 * Everything is synchronous, does no input or output, and reads no clock. Redacting keeps every length: a value is overwritten where it stands, so a content
 * length stays right, and JSON stays JSON.
 */
export interface DetectorPolicy {
  /** Values to look for in every view. */
  readonly known: readonly KnownValue[];
  /** Patterns to look for; `TOKEN_RULES` of `rules/` unless told. */
  readonly rules?: readonly Rule[];
}

export interface KnownValue {
  /** `stand_ins` are told as `stand-in`, … : the detector decides which rule a finding has. */
  readonly detector: "known_secrets" | "canary" | "stand_ins";
  /** Of the variable, for findings and for `pass`. */
  readonly name: string;
  readonly value: string;
}

/** A pattern as data. `rules/` has ours, each with its vectors. */
export interface Rule {
  /** kebab-case; what a finding and an allow list name. */
  readonly id: string;
  readonly detector: DetectorName;
  readonly severity: "high" | "hint";
  readonly description: string;
  /** Literal texts, of at least 3 bytes each, one of which every match has in it. The pattern is only tried around them. */
  readonly keywords: readonly string[];
  /** Bounded: no `*`, `+` or `{n,}`. The named group `value`, where there is one, is the secret; otherwise the whole match is. Flags: `i` or none. */
  readonly pattern: RegExp;
  /** Its keyword is in every text, so it is looked for in fewer encodings. */
  readonly isCommon?: boolean;
  /** Characters before the keyword that the pattern may need to see; 0 unless told. */
  readonly before?: number;
  /** And after it; 1,600 unless told. */
  readonly ahead?: number;
  /** The value is a key, which may be longer than a pattern: what follows it and looks like it is overwritten with it. */
  readonly runsOn?: boolean;
  /** A last look at the value: a checksum, its entropy. */
  readonly accept?: (value: string) => boolean;
  /** A text that must hit, and one that must not. Functions, so that no whole token is in the source. */
  readonly hit: () => string;
  readonly miss: () => string;
}

export interface Detector {
  /** What the operator should know: a value that is too short to be looked for in every view. Names only. */
  readonly warnings: readonly DetectorWarning[];
  /** What one route wants. Cheap: it shares everything with the detector. */
  scope(options?: ScopeOptions): Scan;
}

export interface DetectorWarning {
  readonly name: string;
  readonly message: string;
}

export interface ScopeOptions {
  /** All but `entropy` unless told. */
  readonly detectors?: readonly DetectorName[];
  /** Names of known values that may pass: `secrets` of the route, and stand-ins that are at home there. */
  readonly pass?: readonly string[];
}

/** May be used for any number of requests at once. */
export interface Scan {
  /** One whole text. `place` comes back in the findings. */
  text(place: string, text: string): Finding[];
  /** One whole message: of a WebSocket, a small body, a file. */
  bytes(place: string, bytes: Uint8Array): Finding[];
  /** One whole file, with lines and fingerprints: for pushes and for `cloche scan`. */
  file(name: string, bytes: Uint8Array): TextFinding[];
  /**
   * Each part alone, then what they say together: a value cut into several parameters, headers or labels, or over the requests that `memory` knows. In a route that redacts,
   * overwrite the parts with `redactText` and ask again: what is still found is to be refused.
   */
  head(head: RequestHead, memory?: ScanMemory): Finding[];
  /** The same text with every violation overwritten, as long as before. */
  redactText(place: string, text: string): Redacted<string>;
  redactBytes(place: string, bytes: Uint8Array): Redacted<Uint8Array>;
  body(options: BodyOptions): BodyScan;
  /** For one host, over requests. A few kilobytes at most. */
  memory(): ScanMemory;
}

export interface RequestHead {
  readonly host: string;
  /** As it was sent, still escaped. */
  readonly path: string;
  /** Without the question mark; empty for none. */
  readonly query: string;
  /** In the order in which they came. Names are scanned too. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface Redacted<T> {
  readonly value: T;
  readonly findings: Finding[];
}

export interface BodyOptions {
  /** `find`: bytes come back as they are, in the chunks in which they were given, which nobody may change meanwhile. `redact`: with violations overwritten, as long as before. */
  readonly mode: "find" | "redact";
  /** `body` unless told. */
  readonly place?: string;
  /** What earlier requests to this host ended with. */
  readonly memory?: ScanMemory;
  /** What goes with it: a value may be cut over both. */
  readonly head?: RequestHead;
  /** `false`: every `push` gives back all there is, as for an answer that somebody reads while it comes. A value that is cut is found when it is complete. */
  readonly hold?: boolean;
}

/**
 * A body as it comes. It holds back at most `WHOLE_BYTES` (`limits.ts`), a smaller body until it is whole, so that no value leaves in part before it is whole; what `push` returns may go on at once. In mode `find`
 * the gate looks at `findings` after each call and sends nothing more once there is a violation. It can also keep a small body until `end`, and send nothing of it.
 */
export interface BodyScan {
  /** So far, in the order of their places. */
  readonly findings: readonly Finding[];
  /** What comes together is looked at together. */
  push(...chunks: readonly Uint8Array[]): readonly Uint8Array[];
  /** Everything that is held back, when the other side waits for it (a body that never ends). A value that goes on after it is still found, but its start is gone. */
  flush(): readonly Uint8Array[];
  /** The rest. Nothing may be pushed afterwards. */
  end(): readonly Uint8Array[];
}

/** The last pieces of what went to one host, place by place. Opaque; forgotten whenever the gate likes. */
export interface ScanMemory {
  /** Bytes it holds. */
  readonly size: number;
}
