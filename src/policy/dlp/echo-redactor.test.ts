import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EchoRedactor } from "./echo-redactor.ts";

const VALUE = `real"token/with+signs ${"x7Qz".repeat(4)}`;

describe("an echo of a credential", () => {
  it("is taken out in each form in which a server repeats it, wherever chunks are cut", () => {
    const forms = [
      VALUE,
      JSON.stringify(VALUE).slice(1, -1),
      encodeURIComponent(VALUE),
      Buffer.from(VALUE).toString("hex"),
      Buffer.from(`user:${VALUE}`).toString("base64"),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...forms),
        fc.string(),
        fc.array(fc.nat(200), { maxLength: 5 }),
        (form, around, cuts) => {
          const bytes = Buffer.from(`${around}${form}${around}`);
          const stream = new EchoRedactor([VALUE]).stream();
          const parts: Buffer[] = [];
          let from = 0;
          for (const cut of [...cuts.toSorted((one, other) => one - other), bytes.length]) {
            parts.push(stream.push(bytes.subarray(from, cut)));
            from = Math.min(bytes.length, Math.max(from, cut));
          }
          const text = Buffer.concat([...parts, stream.end()]).toString();
          expect(text).not.toContain(form);
          expect(Buffer.byteLength(text)).toBe(bytes.length);
          expect(stream.count).toBeGreaterThan(0);
        },
      ),
    );
  });

  it("holds nothing back of an event that has none", () => {
    const stream = new EchoRedactor([VALUE]).stream();
    expect(stream.push(Buffer.from('data: {"type":"ping"}\n\n')).toString()).toBe('data: {"type":"ping"}\n\n');
  });
});
