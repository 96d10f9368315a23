import type { Rule } from "./detector.ts";
import type { Layer } from "./layer.ts";
import type { Match } from "./match.ts";

/** How many characters after a keyword a pattern may need, when its rule does not say. */
const AHEAD = 1600;

interface CompiledRule {
  readonly rule: Rule;
  readonly pattern: RegExp;
}

/** Rules, ready to run. */
export class RuleSet {
  readonly rules: readonly Rule[];
  readonly #compiled: readonly CompiledRule[];

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    this.#compiled = rules.map((rule) => {
      const indices = rule.pattern.source.includes("(?<value>") ? "d" : "";
      return { rule, pattern: new RegExp(rule.pattern.source, `g${rule.pattern.flags.replace("g", "")}${indices}`) };
    });
  }

  /** Where the values are that a rule finds in a text. */
  *find(index: number, text: string): Generator<{ start: number; end: number }> {
    const compiled = this.#compiled[index];
    if (compiled === undefined) return;
    const { rule, pattern } = compiled;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (match[0] === "") pattern.lastIndex++;
      const [start, end] = match.indices?.groups?.["value"] ?? [match.index, match.index + match[0].length];
      if (rule.accept === undefined || rule.accept(text.slice(start, end))) yield { start, end };
    }
  }
}

interface Region {
  readonly start: number;
  end: number;
}

/** Keywords that were seen in a layer. Those of one rule that are near each other are looked at together, so that a text full of keywords costs no more than its length. */
export class RuleHits {
  readonly #rules: RuleSet;
  /** By a rule. Most layers have none. */
  #regions: Map<number, Region[]> | undefined;

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  add(rules: readonly number[], at: number, length: number): void {
    const all = (this.#regions ??= new Map<number, Region[]>());
    for (const index of rules) {
      const rule = this.#rules.rules[index];
      // One more, for a pattern that wants a border.
      const start = Math.max(0, at - (rule?.before ?? 0) - 2);
      const end = at + length + (rule?.ahead ?? AHEAD);
      const regions = all.get(index);
      if (regions === undefined) all.set(index, [{ start, end }]);
      else {
        const last = regions.at(-1);
        if (last && start <= last.end) last.end = end;
        else regions.push({ start, end });
      }
    }
  }

  run(layer: Layer, report: (match: Match) => void): void {
    for (const [index, regions] of this.#regions ?? []) {
      for (const region of regions) {
        const part = layer.bytes.subarray(region.start, region.end);
        const text = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1");
        for (const { start, end } of this.#rules.find(index, text)) {
          const pieces = layer.toOriginal([{ start: region.start + start, end: region.start + end }]);
          report({ of: index, view: layer.view, pieces });
        }
      }
    }
  }
}
