import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonPieces } from "./json-pieces.ts";

const joined = (value: unknown) => [...jsonPieces(value)].join("");

describe("JSON in pieces", () => {
  it("is what JSON.stringify makes of plain data", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(joined(value)).toBe(JSON.stringify(value));
      }),
    );
    expect(joined({ a: undefined, b: [undefined, 1], c: {} })).toBe('{"b":[null,1],"c":{}}');
  });

  it("has small pieces, also of a long text, and says the same wherever it is cut", () => {
    const text = `a${"\u0001😀".repeat(100_000)}`;
    const pieces = [...jsonPieces({ text, list: Array.from({ length: 9000 }, (_, at) => ({ path: `/p/${at}` })) })];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(700_000);
    expect(JSON.parse(pieces.join(""))).toMatchObject({ text });
  });
});
