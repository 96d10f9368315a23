import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requireFewParts } from "./json-shape.ts";

const LONG = "x".repeat(70_000);
const check = (text: string) => () => requireFewParts(Buffer.from(text));
const REFUSED = expect.objectContaining({ code: "INVALID_ARGUMENT" }) as Error;

describe("requireFewParts()", () => {
  it("G-25 refuses many small parts and many levels before they are parsed", () => {
    for (const part of ["{}", "[]", "0", '""', '"a\\\\"']) {
      expect(check(`[${Array.from({ length: 60_000 }, () => part).join(",")}]`), part).toThrow(REFUSED);
    }
    expect(check(`{${Array.from({ length: 30_000 }, (_, key) => `"k${key}":1`).join(",")}}`)).toThrow(REFUSED);
    expect(check("[".repeat(1_000_000))).toThrow(REFUSED);
    expect(check(`{"text":"${LONG}","a":${"[".repeat(40)}${"]".repeat(40)}}`)).toThrow(REFUSED);
  });

  it("takes a long string for what it is, whatever is in it", () => {
    const hostile = '{}[],:"\\\n'.repeat(100_000);
    expect(check(JSON.stringify({ workspace_id: "ws-1", text: hostile, more: [hostile] }))).not.toThrow();
    expect(check(`"${LONG}`)).not.toThrow(); // no JSON: the parser says so
  });

  it("never refuses what an honest document has in it", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(check(`{"filler":"${LONG}","input":${text}}`)).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});
