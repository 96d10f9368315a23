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
import { CleanTexts } from "./clean-texts.ts";
import { HeadText, joinedCookies, joinedHostTexts, memoryParts } from "./head-scan.ts";
import { HeadSeams } from "./head-seams.ts";
import { INJECTION_PHRASES } from "./injection-phrases.ts";
import { KeywordNeedles } from "./keyword-needles.ts";
import { strengthOf } from "./known-pieces.ts";
import { exactNeedles } from "./raw-needles.ts";
import { RuleSet } from "./rule-set.ts";
import { TOKEN_RULES } from "./rules/token-rules.ts";
import { type Extended, TailMemory, type MemoryOf } from "./scan-memory.ts";
import { ScanPolicy } from "./scan-policy.ts";
import { scanFile } from "./text-scan.ts";
import { beginsAtBorder } from "./value-borders.ts";
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
/** An agent sends the same head with most of its requests. */
const MAX_CLEAN_SEAMS = 16;

class ScopedScan implements Scan {
  readonly #scanner: ByteScanner;
  readonly #policy: ScanPolicy;
  /** Whose names say nothing without their dots. */
  readonly #cleanHosts = new CleanTexts(MAX_CLEAN_HOSTS);
  #last: { readonly head: RequestHead; readonly seams: HeadSeams } | undefined;
  /** What heads say together that were looked at. */
  readonly #cleanSeams = new CleanTexts(MAX_CLEAN_SEAMS);
  /** Values of a head of which no two say anything together. */
  #cleanPairs: ReadonlySet<string> = new Set();

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
    const add = (found: readonly Finding[]) => {
      for (const one of found)
        if (!findings.some(({ rule }) => rule === one.rule)) findings.push({ ...one, view: "joined" });
    };
    for (const [place, joined] of this.#joinedTexts(head)) if (joined !== "") add(this.text(place, joined));
    add(this.#seams(head));
    const remembered = this.#with(memory);
    for (const [place, value] of memoryParts(head))
      if (value !== "") findings.push(...(remembered?.bytes(place, Buffer.from(value)) ?? []));
    return findings;
  }

  /** Hosts are few, and their names are looked at once. */
  #joinedTexts(head: RequestHead): (readonly [string, string])[] {
    const cookies = ["header:cookie", joinedCookies(head)] as const;
    if (this.#cleanHosts.has(head.host)) return [cookies];
    const hosts = joinedHostTexts(head.host);
    if (hosts.every(([place, joined]) => this.text(place, joined).length === 0)) this.#cleanHosts.add(head.host);
    return [...hosts, cookies];
  }

  /** SECURITY: a value that is cut into several places of one request does not leave in any of them (G-190) */
  #seams(head: RequestHead): Finding[] {
    const seams = this.#seamsOf(head);
    if (this.#cleanSeams.has(seams.key)) return [];
    const texts = seams.texts(this.#cleanPairs);
    const { bytes } = texts;
    const all = scanWhole(this.#scanner, this.#policy.joined, "", bytes);
    const borders = all.length === 0 ? undefined : texts.borders;
    const found = all.filter(({ match }) =>
      beginsAtBorder({ match, rule: this.#policy.ruleOf(match) }, bytes, borders),
    );
    if (found.length === 0) {
      this.#cleanSeams.add(seams.key);
      this.#cleanPairs = seams.paired;
    }
    return found.map(({ finding }) => ({ ...finding, place: texts.placeOf(finding.offset) }));
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
    const carried = options.head && this.#seamsOf(options.head).carried;
    return new BufferedBodyScan(this.#scanner, this.#policy, options, { memory: this.#with(options.memory), carried });
  }

  /** A body mostly comes right after its head. */
  #seamsOf(head: RequestHead): HeadSeams {
    if (this.#last?.head === head) return this.#last.seams;
    const seams = new HeadSeams(head);
    this.#last = { head, seams };
    return seams;
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
