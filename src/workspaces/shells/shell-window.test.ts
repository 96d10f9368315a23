import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REDACTED, Redactor } from "../../policy/redactor.ts";
import { shellWindow } from "./shell-window.ts";

const none = new Redactor([]);
const secret = new Redactor(["s3cret-value", "aaaab"]);
const ring = (text: string | Buffer, start = 0) => ({ start, bytes: Buffer.from(text) });
const request = { cursor: 0, maxChars: 1000, running: true };

describe("shellWindow()", () => {
  it("gives what follows the cursor, and what came before it apart", () => {
    const window = shellWindow(ring("hello world", 100), none, { ...request, cursor: 106 });
    expect(window).toMatchObject({ cursor: 106, nextCursor: 111, lost: false, cut: false });
    expect([window.before.toString(), window.shown.toString()]).toEqual(["hello ", "world"]);
  });

  it("starts at the first whole character that is left, and says that something is lost", () => {
    const window = shellWindow(ring(Buffer.from("äbc").subarray(1), 50), none, request);
    expect(window).toMatchObject({ cursor: 51, nextCursor: 53, lost: true });
    expect(window.shown.toString()).toBe("bc");
  });

  it("cuts by UTF-16 units, never inside a character, and always goes on", () => {
    const of = (maxChars: number) => shellWindow(ring("a😀é"), none, { ...request, maxChars });
    expect([1, 2, 3, 4].map((max) => of(max).shown.toString())).toEqual(["a", "a", "a😀", "a😀é"]);
    expect([1, 2, 3, 4].map((max) => of(max).cut)).toEqual([true, true, true, false]);
    expect(shellWindow(ring("😀"), none, { ...request, maxChars: 1 }).nextCursor).toBe(4);
  });

  it("leaves an incomplete character for later while more may come", () => {
    const bytes = Buffer.concat([Buffer.from("ab"), Buffer.from("😀").subarray(0, 3)]);
    expect(shellWindow(ring(bytes), none, request)).toMatchObject({ nextCursor: 2, cut: false });
    expect(shellWindow(ring(bytes), none, { ...request, running: false })).toMatchObject({ nextCursor: 5, cut: false });
    expect(shellWindow(ring(Buffer.from([0x61, 0xff])), none, request).nextCursor).toBe(2);
  });

  it("takes values out whole, counts their raw bytes, and never splits the mark", () => {
    const window = shellWindow(ring("x s3cret-value y"), secret, request);
    expect(window.shown.toString()).toBe(`x ${REDACTED} y`);
    expect(window.nextCursor).toBe(16);
    const cut = shellWindow(ring("x s3cret-value y"), secret, { ...request, maxChars: 5 });
    expect([cut.shown.toString(), cut.nextCursor]).toEqual(["x ", 2]);
  });

  it("takes out the rest of a value when the cursor or the ring starts inside it", () => {
    expect(shellWindow(ring("s3cret-value y"), secret, { ...request, cursor: 4 }).shown.toString()).toBe(
      `${REDACTED} y`,
    );
    expect(shellWindow(ring("ret-value y", 7), secret, request).shown.toString()).toBe(`${REDACTED} y`);
    expect(shellWindow(ring("ret-value y", 0), secret, request).shown.toString()).toBe("ret-value y");
  });

  it("holds back what may become a value, from four bytes on and while more may come", () => {
    expect(shellWindow(ring("x s3cret-va"), secret, request)).toMatchObject({ nextCursor: 2, cut: false });
    expect(shellWindow(ring("x s3c"), secret, request).nextCursor).toBe(5);
    expect(shellWindow(ring("x s3cret-va"), secret, { ...request, running: false }).nextCursor).toBe(11);
  });

  it("read bit by bit gives the same text as read at once, whatever the bytes", () => {
    const piece = fc.constantFrom("s3cret-value", "s3cret", "aaaab", "aaaa", "a", "ä", "😀", "\r\n", "\xff");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 1, max: 9 }), (pieces, maxChars) => {
        const whole = ring(pieces.join(""));
        const done = { maxChars: 10_000, running: false };
        let text = "";
        for (let cursor = 0; cursor < whole.bytes.length;) {
          const window = shellWindow(whole, secret, { cursor, maxChars, running: false });
          text += window.shown.toString();
          expect(window.nextCursor).toBeGreaterThan(cursor);
          cursor = window.nextCursor;
        }
        expect(text).toBe(shellWindow(whole, secret, { ...done, cursor: 0 }).shown.toString());
        expect(text).toBe(secret.bytes(whole.bytes).toString());
      }),
    );
  });
});
