import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REDACTED, Redactor } from "./redactor.ts";

const streamed = (redactor: Redactor, chunks: readonly string[]): string => {
  const stream = redactor.stream();
  return Buffer.concat([...chunks.map((chunk) => stream.push(Buffer.from(chunk))), stream.end()]).toString();
};

describe("Redactor (G-17)", () => {
  it("takes values out, wherever they are", () => {
    expect(new Redactor(["s3cret"]).text("a s3cret, s3crets3cret.")).toBe(`a ${REDACTED}, ${REDACTED}${REDACTED}.`);
  });

  it("leaves everything as it is without values", () => {
    const bytes = Buffer.from("anything");
    expect(new Redactor([]).bytes(bytes)).toBe(bytes);
  });

  it("finds a value that contains another whole, and overlapping ones together", () => {
    expect(new Redactor(["abcd", "xabcdy"]).text("-xabcdy-abcd-")).toBe(`-${REDACTED}-${REDACTED}-`);
    expect(new Redactor(["abcd", "cdef"]).text("-abcdef-")).toBe(`-${REDACTED}-`);
  });

  it("finds a value of several lines as a terminal shows it, and its lines alone", () => {
    const redactor = new Redactor(["first-line-secret\nsecond-line-secret"]);
    expect(redactor.text("first-line-secret\r\nsecond-line-secret")).toBe(REDACTED);
    expect(redactor.text("x second-line-secret")).toBe(`x ${REDACTED}`);
  });

  it("finds a value in two pieces, and shows at once what cannot be the beginning of one", () => {
    const stream = new Redactor(["s3cret"]).stream();
    expect(stream.push(Buffer.from("say s3c")).toString()).toBe("say ");
    expect(stream.push(Buffer.from("ret!")).toString()).toBe(`${REDACTED}!`);
    expect(stream.push(Buffer.from("s3")).toString()).toBe("");
    expect(stream.end().toString()).toBe("s3");
  });

  it("takes out a value that a cut goes through", () => {
    const redactor = new Redactor(["s3cret"]);
    expect(redactor.start(Buffer.from("say s3cret!"), 7).toString()).toBe(`say ${REDACTED}`);
    expect(redactor.start(Buffer.from("say s3cret!"), 3).toString()).toBe("say");
    expect(redactor.start(Buffer.from("say s3cret!"), 99).toString()).toBe(`say ${REDACTED}!`);
  });

  it("gives the same for any cut of the stream", () => {
    const part = fc.constantFrom("s3cret", "s3", "cret", "aaab", "aaaa", "a", " ", "\n", "ü");
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 }),
        (parts, cuts) => {
          const redactor = new Redactor(["s3cret", "aaab", "ü3cr"]);
          const whole = Buffer.from(parts.join(""));
          const stream = redactor.stream();
          const out: Buffer[] = [];
          let at = 0;
          for (const cut of cuts) {
            out.push(stream.push(whole.subarray(at, at + cut)));
            at += cut;
          }
          out.push(stream.push(whole.subarray(at)), stream.end());
          expect(Buffer.concat(out).toString()).toBe(redactor.bytes(whole).toString());
          expect(streamed(redactor, [whole.toString()])).not.toContain("s3cret");
        },
      ),
    );
  });

  it("tells how much of a start may be the rest of a value whose beginning is lost", () => {
    const redactor = new Redactor(["s3cret", "longer-s3cre"]);
    expect(redactor.openStart(Buffer.from("cret and more"))).toBe(4);
    expect(redactor.openStart(Buffer.from("s3cre and more"))).toBe(5);
    expect(redactor.openStart(Buffer.from("s3cret"))).toBe(5);
    expect(redactor.openStart(Buffer.from("nothing"))).toBe(0);
    expect(redactor.openStart(Buffer.from(""))).toBe(0);
  });
});
