import type { KnownValue, Rule, ScopeOptions } from "./detector.ts";
import type { DetectorName, Finding } from "./finding.ts";
import { endOf, startOf, type Match } from "./match.ts";

const KNOWN_RULES = { known_secrets: "known-secret", canary: "canary", stand_ins: "stand-in" } as const;

/** All but those that only guess. */
export const DEFAULT_DETECTORS: readonly DetectorName[] = [
  "known_secrets",
  "canary",
  "stand_ins",
  "tokens",
  "private_keys",
];

/** Which matches a route wants to hear of, and in which words. */
export class ScanPolicy {
  readonly #rules: readonly Rule[];
  readonly #detectors: ReadonlySet<DetectorName>;
  readonly #pass: ReadonlySet<string>;
  readonly #passing: readonly string[];
  readonly #known: readonly KnownValue[];
  readonly #options: ScopeOptions;
  /** Whether it is asked about texts that were put together out of several places. */
  readonly #isJoined: boolean;
  #joined: ScanPolicy | undefined;

  constructor(rules: readonly Rule[], known: readonly KnownValue[], options: ScopeOptions, isJoined = false) {
    const { detectors, pass } = options;
    this.#rules = rules;
    this.#known = known;
    this.#options = options;
    this.#isJoined = isJoined;
    this.#detectors = new Set(detectors ?? DEFAULT_DETECTORS);
    this.#pass = new Set(pass);
    this.#passing = known.flatMap(({ name, value }) =>
      this.#pass.has(name) ? [Buffer.from(value).toString("latin1")] : [],
    );
  }

  /** The same for texts that were put together: there, what may pass can have something behind it that looks as if it went on. */
  get joined(): ScanPolicy {
    return (this.#joined ??= new ScanPolicy(this.#rules, this.#known, this.#options, true));
  }

  /** `bytes` is what the match was found in. */
  wants(match: Match, bytes: Uint8Array): boolean {
    const { of } = match;
    if (typeof of === "number") {
      const rule = this.#rules[of];
      if (rule === undefined || !this.#detectors.has(rule.detector)) return false;
      // Neither a guess by entropy nor regular gaps say anything of what was put together, since the same is there again and again.
      if (this.#isJoined && (rule.detector === "entropy" || match.view.includes("separated"))) return false;
      return !this.#isPassing(match, bytes);
    }
    if ("phrases" in of) return this.#detectors.has("injection");
    return this.#detectors.has(of.detector) && !this.#pass.has(of.name);
  }

  /** A stand-in looks like a token of its kind, and is none. */
  #isPassing(match: Match, bytes: Uint8Array): boolean {
    if (this.#passing.length === 0) return false;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
      "latin1",
      startOf(match),
      endOf(match),
    );
    return this.#passing.some((value) => value.includes(text) || (this.#isJoined && text.includes(value)));
  }

  /** Undefined for what is no match of a rule. */
  ruleOf({ of }: Match): Rule | undefined {
    return typeof of === "number" ? this.#rules[of] : undefined;
  }

  /** Whether what follows the match may belong to it. */
  runsOn(match: Match): boolean {
    return this.ruleOf(match)?.runsOn === true;
  }

  /** The offset counts from `base`. */
  toFinding(match: Match, place: string, base: number): Finding {
    const start = startOf(match);
    const where = { place, offset: base + start, length: endOf(match) - start, view: nameOf(match.view) };
    const { of } = match;
    if (typeof of === "number") {
      const rule = this.#rules[of];
      if (rule === undefined) throw new RangeError("a match of a rule that is not there");
      return { detector: rule.detector, rule: rule.id, severity: rule.severity, ...where };
    }
    if ("phrases" in of) return { detector: "injection", rule: of.id, severity: of.severity, ...where };
    return { detector: of.detector, rule: KNOWN_RULES[of.detector], name: of.name, severity: "high", ...where };
  }
}

const nameOf = (view: readonly string[]): string => (view.length === 0 ? "raw" : view.join(" of "));

/** Two ways to see the same thing at the same place are one finding. */
export const keyOf = (finding: Finding): string => `${finding.rule} ${finding.name ?? ""} ${finding.offset}`;

/** A part of a value may be seen before the whole, and a roundabout view before the plain one. */
export const isBetter = (finding: Finding, known: Finding | undefined): boolean =>
  known === undefined ||
  finding.length > known.length ||
  (finding.length === known.length && finding.view === "raw" && known.view !== "raw");
