import { describe, expect, it } from "vitest";
import { KeywordNeedles } from "./keyword-needles.ts";
import { TOKEN_RULES } from "./rules/token-rules.ts";

/** All that there is to know of each: what it is, and by which gram it is found. */
function told({
  table,
  texts,
  get,
}: {
  table: KeywordNeedles["table"];
  texts: KeywordNeedles["texts"];
  get: (needle: number) => unknown;
}) {
  const entries = new Map<number, string[]>();
  table.forEachGram((gram) => {
    for (let entry = table.first(gram); entry >= 0; entry = table.next(entry)) {
      const needle = table.needleOf(entry);
      entries.set(needle, [...(entries.get(needle) ?? []), `${gram} at ${table.placeOf(entry)}`]);
    }
  });
  return Array.from({ length: texts.size }, (_, needle) => [
    Buffer.from(texts.get(needle)).toString("latin1"),
    get(needle),
    entries.get(needle),
  ]);
}

const all = (needles: KeywordNeedles | undefined) =>
  needles && told({ table: needles.table, texts: needles.texts, get: (needle) => needles.get(needle) });

describe("needles of keywords", () => {
  const rules = TOKEN_RULES.slice(0, 40);
  const packed = KeywordNeedles.pack(rules);

  it("are the same from a file as made anew", () => {
    const made = all(KeywordNeedles.make(rules));
    expect(made?.length).toBeGreaterThan(1000);
    expect(made?.every((one) => one[2] !== undefined)).toBe(true);
    expect(all(KeywordNeedles.unpack(packed, rules))).toEqual(made);
  });

  it("G-70 are not taken from a file of other rules", () => {
    const [first] = rules;
    if (!first) throw new Error("there are rules");
    for (const others of [
      rules.slice(1),
      [...rules, ...TOKEN_RULES.slice(40, 41)],
      [{ ...first, keywords: [...first.keywords, "another"] }, ...rules.slice(1)],
      [{ ...first, isCommon: first.isCommon !== true }, ...rules.slice(1)],
    ])
      expect(KeywordNeedles.unpack(packed, others)).toBeUndefined();
  });

  it("G-70 are not taken from a file that is damaged or cut short", () => {
    const changed = Buffer.from(packed);
    const at = changed.length - 1000;
    changed[at] = (changed[at] ?? 0) ^ 1;
    for (const damaged of [changed, packed.subarray(0, -1), packed.subarray(0, 100), Buffer.alloc(0)])
      expect(KeywordNeedles.unpack(damaged, rules)).toBeUndefined();
  });
});
