import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../test/helpers/random.ts";
import { createDetector } from "../create-detector.ts";
import { OUTBOUND_DETECTORS } from "../finding.ts";
import { ALL_RULES } from "./token-rules.ts";

const scan = createDetector({ known: [], rules: ALL_RULES }).scope({ detectors: OUTBOUND_DETECTORS });
const rulesIn = (text: string) => scan.text("body", text).map(({ rule }) => rule);

const ruleOf = (wanted: string) => {
  const rule = ALL_RULES.find(({ id }) => id === wanted);
  if (!rule) throw new RangeError(wanted);
  return rule;
};

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

describe("what is no secret", () => {
  it("passes: pictures in base64, some megabytes of them", () => {
    const next = createRandom(7);
    const bytes = () => Buffer.from(Uint8Array.from({ length: 3 * 1024 * 1024 }, () => next(256)));
    const body = `{"data":"${bytes().toString("base64")}"}`;
    // By chance a run of letters is in it that only an end on either side would make a key.
    const [middle, key] = [100_000, `+ACR${"Ab3d".repeat(40)}AzSe${"Cd4f".repeat(40)}AIza${"Ef5g".repeat(40)}`];
    expect(rulesIn(body)).toEqual([]);
    expect(rulesIn(body.slice(0, middle) + key + body.slice(middle))).toEqual([]);
  });

  it("passes: the id of a key in the scope of a signature, which a service has made for others to use", () => {
    const id = ruleOf("aws-access-key-id").hit();
    const scope = "20261119/eu-central-1/s3/aws4_request";
    expect(rulesIn(`X-Amz-Credential=${id}${encodeURIComponent(`/${scope}`)}&X-Amz-Date=20261119T000000Z`)).toEqual([]);
    expect(rulesIn(`AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=host`)).toEqual([]);
    for (const text of [`/v1/${id}/items`, `${id}/20261119`, `${id}/${scope.replace("aws4", "aws5")}`, id])
      expect(rulesIn(text)).toContain("aws-access-key-id");
  });
});
