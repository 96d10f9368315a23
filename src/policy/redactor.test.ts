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

  it("ignores values that would be found in everything, and ends", () => {
    for (const value of ["", "a", "ab", "abc", "\n", "\n\n"]) {
      const redactor = new Redactor([value, "real-value"]);
      const text = `${"ab\n\nabc".repeat(50)} real-value`;
      expect(redactor.text(text)).toBe(text.replace("real-value", REDACTED));
      expect(streamed(redactor, Array.from(text))).toBe(redactor.text(text));
      expect(redactor.openEnd(Buffer.from(text))).toBe(0);
      expect(redactor.openStart(Buffer.from(text))).toBe(0);
    }
    expect(new Redactor(["", "abc"]).isEmpty).toBe(true);
  });

  it("does what a plain search does, for any values and any cut", () => {
    // Few letters, so that values begin, end and overlap each other all the time.
    const text = (maxLength: number) =>
      fc.array(fc.constantFrom("a", "b", "\n", "\r\n", "ü"), { maxLength }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.array(text(14), { maxLength: 8 }),
        text(80),
        fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 60 }),
        (values, shown, cuts) => {
          const redactor = new Redactor(values);
          const whole = Buffer.from(shown);
          const wanted = plainSearch(values, whole);
          expect(redactor.bytes(whole).toString("latin1")).toBe(wanted);
          const stream = redactor.stream();
          let out = "";
          let at = 0;
          for (const cut of [...cuts, whole.length]) {
            out += stream.push(whole.subarray(at, at + cut)).toString("latin1");
            at += cut;
          }
          expect(out + stream.end().toString("latin1")).toBe(wanted);
          const needles = needlesOf(values);
          expect(redactor.openEnd(whole)).toBe(
            longest(whole.length, (length) =>
              needles.some((needle) => needle.length > length && needle.startsWith(latin(whole.subarray(-length)))),
            ),
          );
          expect(redactor.openStart(whole)).toBe(
            longest(whole.length, (length) =>
              needles.some((needle) => needle.length > length && needle.endsWith(latin(whole.subarray(0, length)))),
            ),
          );
        },
      ),
      { numRuns: 3000 },
    );
  });

  it.each([
    [
      "thousands of lines that begin alike",
      [Array.from({ length: 1500 }, (_, line) => `${"a".repeat(32)}${line}`).join("\n")],
    ],
    ["one letter", ["a".repeat(65_536)]],
    ["values within values", Array.from({ length: 60 }, (_, count) => "a".repeat(64 + count))],
    ["a value that is almost there everywhere", [`${"a".repeat(65_000)}b`]],
  ])("takes time for the bytes only: %s", (_what, values) => {
    const redactor = new Redactor(values);
    const hostile = Buffer.alloc(512 * 1024, "a");
    redactor.openStart(hostile);
    redactor.openEnd(hostile);
    const began = performance.now();
    const shown = redactor.bytes(hostile);
    const stream = redactor.stream();
    for (let at = 0; at < hostile.length; at += 8192) stream.push(hostile.subarray(at, at + 8192));
    // A search for one value after the other takes minutes.
    expect(performance.now() - began).toBeLessThan(5000);
    expect(shown.length).toBeLessThanOrEqual(3 * hostile.length);
  });
});

const latin = (bytes: Buffer): string => bytes.toString("latin1");

/** All that a value is shown as, as one letter a byte. */
function needlesOf(values: readonly string[]): string[] {
  return values
    .flatMap((value) => {
      if (!value.includes("\n")) return [value];
      const lines = value.split(/\r?\n/).filter((line) => Buffer.byteLength(line) >= 8);
      return [value, value.replaceAll(/\r?\n/g, "\r\n"), ...lines];
    })
    .map((form) => latin(Buffer.from(form)))
    .filter((form) => form.length >= 4);
}

/** Colours every byte of every value, one by one, and gives each colour that is not broken a mark. */
function plainSearch(values: readonly string[], whole: Buffer): string {
  const text = latin(whole);
  const covered = new Set<number>();
  const joined = new Set<number>();
  for (const needle of needlesOf(values)) {
    for (let at = 0; at < text.length; at++) {
      if (!text.startsWith(needle, at)) continue;
      for (let index = at; index < at + needle.length; index++) {
        covered.add(index);
        if (index > at) joined.add(index);
      }
    }
  }
  let out = "";
  for (const [index, letter] of Array.from(text).entries()) {
    if (!covered.has(index)) out += letter;
    else if (!joined.has(index)) out += REDACTED;
  }
  return out;
}

function longest(most: number, isSo: (length: number) => boolean): number {
  for (let length = most; length > 0; length--) if (isSo(length)) return length;
  return 0;
}
