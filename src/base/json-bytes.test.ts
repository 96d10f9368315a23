import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonBytes } from "./json-bytes.ts";

it("counts what JSON.stringify makes, of any string", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), fc.string({ unit: "binary" }), (units, text) => {
      for (const one of [String.fromCharCode(...units), text, `${text}"\\\n\u0001`])
        expect(jsonBytes(one)).toBe(Buffer.byteLength(JSON.stringify(one)));
    }),
  );
});
