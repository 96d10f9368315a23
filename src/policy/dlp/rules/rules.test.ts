import { describe, expect, it } from "vitest";
import { createDetector } from "../create-detector.ts";
import { OUTBOUND_DETECTORS } from "../finding.ts";
import { ALL_RULES } from "./token-rules.ts";

const scan = createDetector({ known: [], rules: ALL_RULES }).scope({ detectors: OUTBOUND_DETECTORS });
const rulesIn = (text: string) => scan.text("body", text).map(({ rule }) => rule);

describe("rules", () => {
  it("are at least a hundred, each with an id of its own", () => {
    const ids = ALL_RULES.map(({ id }) => id);
    expect(ids.length).toBeGreaterThanOrEqual(100);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
  });

  it.each(ALL_RULES.map((rule) => [rule.id, rule] as const))("%s finds its vector, and not the other", (id, rule) => {
    expect(rulesIn(rule.hit())).toContain(id);
    expect(
      rulesIn(`{"content":"first line\\n${rule.hit().replaceAll("\n", "\\n").replaceAll('"', '\\"')}\\nlast"}`),
      "in JSON",
    ).toContain(id);
    expect(rulesIn(rule.miss())).not.toContain(id);
  });

  it.each(ALL_RULES.map((rule) => [rule.id, rule] as const))("%s is bounded", (_, { pattern, keywords }) => {
    const source = pattern.source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, "C");
    expect(source).not.toMatch(/[*+]|\{\d+,\}/);
    expect(keywords.filter((keyword) => keyword.length < 3)).toEqual([]);
    expect(keywords.length).toBeGreaterThan(0);
  });
});
