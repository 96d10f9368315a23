import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REDACTED, Redactor } from "../../policy/redactor.ts";
import { LiveRedaction } from "./live-redaction.ts";

const SECRET = "s3cret-value";
const typed = (redaction: LiveRedaction, ...chunks: string[]) =>
  chunks.map((chunk) => redaction.push(Buffer.from(chunk)).toString());

describe("LiveRedaction", () => {
  it("shows the first letters at once, and takes the rest out when it was a value", () => {
    const redaction = new LiveRedaction(new Redactor([SECRET]), false);
    expect(typed(redaction, "s", "3", "c", "r", "x")).toEqual(["s", "3", "c", "", "rx"]);
    expect(typed(redaction, "s", "3", "cret", "-value", "!")).toEqual(["s", "3", "", REDACTED, "!"]);
    expect(typed(redaction, "s3cret")).toEqual([""]);
    expect(redaction.end().toString()).toBe("s3cret");
  });

  it("takes out the rest of a value whose beginning is lost, at the start only", () => {
    const redaction = new LiveRedaction(new Redactor([SECRET]), true);
    expect(typed(redaction, "t-value then t-value")).toEqual([`${REDACTED} then t-value`]);
  });

  it("lets all through when there are no secrets", () => {
    expect(typed(new LiveRedaction(new Redactor([]), true), "a", "b")).toEqual(["a", "b"]);
  });

  it("never shows more than three bytes of a value, however it is cut", () => {
    const piece = fc.constantFrom(SECRET, "s3", "cret", "value", " ", "\r\n");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 9 })), (pieces, cuts) => {
        const redaction = new LiveRedaction(new Redactor([SECRET]), false);
        const whole = Buffer.from(pieces.join(""));
        const out: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, whole.length]) {
          out.push(redaction.push(whole.subarray(at, at + cut)));
          at += cut;
        }
        out.push(redaction.end());
        const text = Buffer.concat(out).toString();
        expect(text).not.toContain(SECRET);
        const once = new Redactor([SECRET]).bytes(whole).toString();
        expect(text.replaceAll(/(s3c|s3|s)*\[REDACTED\]/g, REDACTED)).toBe(
          once.replaceAll(/(s3c|s3|s)*\[REDACTED\]/g, REDACTED),
        );
      }),
    );
  });
});
