import fc from "fast-check";
import { expect, it } from "vitest";
import { fitJson, jsonBytes } from "./json-bytes.ts";

it("counts what JSON.stringify makes, of any string", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), fc.string({ unit: "binary" }), (units, text) => {
      for (const one of [String.fromCharCode(...units), text, `${text}"\\\n\u0001`])
        expect(jsonBytes(one)).toBe(Buffer.byteLength(JSON.stringify(one)));
    }),
  );
});

it("fits a text into so many bytes, from its start or its end", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 2, max: 80 }), (text, most) => {
      for (const last of [false, true]) {
        const part = fitJson(text, most, last);
        expect(jsonBytes(part)).toBeLessThanOrEqual(most);
        expect(last ? text.endsWith(part) : text.startsWith(part)).toBe(true);
        if (jsonBytes(text) <= most) expect(part).toBe(text);
      }
    }),
  );
});
