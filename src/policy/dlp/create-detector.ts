import { BufferedBodyScan } from "./body-scan.ts";
import { ByteScanner, type Needles } from "./byte-scanner.ts";
import { knownNeedles, phraseNeedles, separatedNeedles } from "./compact-needles.ts";
import type {
  BodyOptions,
  BodyScan,
  Detector,
  DetectorPolicy,
  DetectorWarning,
  KnownValue,
  Redacted,
  RequestHead,
  Rule,
  Scan,
  ScanMemory,
} from "./detector.ts";
import type { Finding, TextFinding } from "./finding.ts";
import { HeadText, joinedHeadTexts, joinedHostTexts, memoryParts } from "./head-scan.ts";
import { INJECTION_PHRASES } from "./injection-phrases.ts";
import { KeywordNeedles } from "./keyword-needles.ts";
import { strengthOf } from "./known-pieces.ts";
import { exactNeedles } from "./raw-needles.ts";
import { RuleSet } from "./rule-set.ts";
import { TOKEN_RULES } from "./rules/token-rules.ts";
import { type Extended, TailMemory, type MemoryOf } from "./scan-memory.ts";
import { ScanPolicy } from "./scan-policy.ts";
import { scanFile } from "./text-scan.ts";
import { redactWhole, scanWhole } from "./whole-scan.ts";

/** Some milliseconds: the forms of every value are made here, once per policy. */
export function createDetector({ known, rules = TOKEN_RULES }: DetectorPolicy): Detector {
  const base = compiled(rules);
  const scanner = new ByteScanner({
    rules: base.rules,
    raw: [...base.raw, exactNeedles(known)],
    compact: [...base.compact, knownNeedles(known)],
  });
  return {
    warnings: known.flatMap(warningsOf),
    scope: (options = {}) => {
      const isInbound = options.detectors?.every((name) => name === "injection") ?? false;
      return new ScopedScan(isInbound ? inboundScanner() : scanner, new ScanPolicy(rules, known, options));
    },
  };
}

/** What a list of rules brings is the same for every policy. */
const COMPILED = new WeakMap<readonly Rule[], Needles>();

function compiled(rules: readonly Rule[], keywords?: KeywordNeedles): Needles {
  const known = COMPILED.get(rules);
  if (known) return known;
  const made: Needles = {
    rules: new RuleSet(rules),
    raw: [keywords ?? KeywordNeedles.make(rules)],
    compact: [separatedNeedles(rules)],
  };
  COMPILED.set(rules, made);
  return made;
}

/** What the package's own rules bring, as a file has it that was written when the package was built: the first detector is there at once. */
export const packedNeedles = (): Buffer => KeywordNeedles.pack(TOKEN_RULES);
export const usePackedNeedles = (packed: Buffer): void => {
  compiled(TOKEN_RULES, KeywordNeedles.unpack(packed, TOKEN_RULES));
};

let inbound: ByteScanner | undefined;

/** The same for everybody, and needed by few. */
const inboundScanner = (): ByteScanner =>
  (inbound ??= new ByteScanner({
    rules: new RuleSet([]),
    raw: [],
    compact: [phraseNeedles(INJECTION_PHRASES)],
  }));

function warningsOf({ name, value }: KnownValue): DetectorWarning[] {
  switch (strengthOf(value)) {
    case "none":
      return [{ name, message: `The value of ${name} is too short to be looked for in what leaves` }];
    case "weak":
      return [{ name, message: `The value of ${name} is short or a plain word: it is looked for as it stands only` }];
    default:
      return [];
  }
}

const MAX_CLEAN_HOSTS = 256;

class ScopedScan implements Scan {
  readonly #scanner: ByteScanner;
  readonly #policy: ScanPolicy;
  /** Whose names say nothing without their dots. */
  readonly #cleanHosts = new Set<string>();

  constructor(scanner: ByteScanner, policy: ScanPolicy) {
    this.#scanner = scanner;
    this.#policy = policy;
  }

  text(place: string, text: string): Finding[] {
    return this.bytes(place, Buffer.from(text));
  }

  bytes(place: string, bytes: Uint8Array): Finding[] {
    return scanWhole(this.#scanner, this.#policy, place, bytes).map(({ finding }) => finding);
  }

  file(name: string, bytes: Uint8Array): TextFinding[] {
    return scanFile(this.#scanner, this.#policy, name, bytes);
  }

  head(head: RequestHead, memory?: ScanMemory): Finding[] {
    const text = new HeadText(head);
    const findings = this.bytes("", text.bytes).map((finding): Finding => {
      const { place, start } = text.placeOf(finding.offset);
      return { ...finding, place, offset: finding.offset - start };
    });
    for (const [place, joined] of this.#joinedTexts(head)) {
      if (joined === "") continue;
      const more = this.text(place, joined).map((finding) => ({ ...finding, view: "joined" }));
      findings.push(...more.filter(({ rule }) => !findings.some((finding) => finding.rule === rule)));
    }
    const remembered = this.#with(memory);
    for (const [place, value] of memoryParts(head))
      if (value !== "") findings.push(...(remembered?.bytes(place, Buffer.from(value)) ?? []));
    return findings;
  }

  /** Hosts are few, and their names are looked at once. */
  #joinedTexts(head: RequestHead): (readonly [string, string])[] {
    if (this.#cleanHosts.has(head.host)) return joinedHeadTexts(head);
    const hosts = joinedHostTexts(head.host);
    if (hosts.every(([place, joined]) => this.text(place, joined).length === 0)) {
      if (this.#cleanHosts.size >= MAX_CLEAN_HOSTS) this.#cleanHosts.clear();
      this.#cleanHosts.add(head.host);
    }
    return [...hosts, ...joinedHeadTexts(head)];
  }

  redactText(place: string, text: string): Redacted<string> {
    const { value, findings } = this.redactBytes(place, Buffer.from(text));
    return { value: findings.length === 0 ? text : Buffer.from(value).toString(), findings };
  }

  redactBytes(place: string, bytes: Uint8Array): Redacted<Uint8Array> {
    const found = scanWhole(this.#scanner, this.#policy, place, bytes);
    return { value: redactWhole(this.#policy, bytes, found), findings: found.map(({ finding }) => finding) };
  }

  body(options: BodyOptions): BodyScan {
    return new BufferedBodyScan(this.#scanner, this.#policy, options, this.#with(options.memory));
  }

  memory(): ScanMemory {
    return new TailMemory();
  }

  /** Findings that only show in what was sent before and now together. */
  #with(memory: ScanMemory | undefined): MemoryOf | undefined {
    if (!(memory instanceof TailMemory)) return undefined;
    const overBorder = (place: string, extended: Extended | undefined): Finding[] => {
      if (extended === undefined) return [];
      const over = this.bytes(place, extended.text).filter(
        ({ offset, length }) => offset < extended.border && offset + length > extended.border,
      );
      // Otherwise its rest would be found again with whatever comes next.
      if (over.length > 0) memory.forget(place);
      return over.map((finding) => ({ ...finding, offset: 0, view: "joined" }));
    };
    return {
      bytes: (place, bytes) => overBorder(place, memory.extend(place, bytes)),
      look: (place, bytes) => overBorder(place, memory.look(place, bytes)),
      remember: (place, bytes) => memory.remember(place, bytes),
    };
  }
}
