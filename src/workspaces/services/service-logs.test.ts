import { describe, expect, it } from "vitest";
import { Redactor } from "../../policy/redactor.ts";
import { showLog, tailBytes, tailLines } from "./service-logs.ts";

describe("tailLines()", () => {
  it.each([
    ["a\nb\nc\n", 2, "b\nc\n", true],
    ["a\nb\nc", 2, "b\nc", true],
    ["a\nb\n", 2, "a\nb\n", false],
    ["\n\n\n", 2, "\n\n", true],
    ["\na\n", 1, "a\n", true],
    ["\na\n", 2, "\na\n", false],
    ["", 5, "", false],
    ["\n", 1, "\n", false],
    ["a\nb\n", Infinity, "a\nb\n", false],
  ])("of %j with %d lines is %j", (text, count, tail, cut) => {
    expect(tailLines(text, count)).toEqual({ text: tail, cut });
  });
});

describe("tailBytes()", () => {
  it("cuts no character in two", () => {
    expect(tailBytes("äöü", 3)).toBe("ü");
    expect(tailBytes("äöü", 4)).toBe("öü");
    expect(tailBytes("abc", 10)).toBe("abc");
  });
});

describe("showLog()", () => {
  const redactor = new Redactor(["opensesame"]);
  const show = (text: string, dropped: boolean, isRunning: boolean) =>
    showLog(Buffer.from(text), dropped, isRunning, redactor);

  it("takes values out", () => {
    expect(show("a opensesame b\n", false, true)).toBe("a [REDACTED] b\n");
  });

  it("shows no end of a value whose beginning was dropped", () => {
    expect(show("sesame and more", true, false)).toBe(" and more");
    expect(show("sesame half a line\nnext opensesame\n", true, false)).toBe("next [REDACTED]\n");
  });

  it("holds back what may become a value while the process runs", () => {
    expect(show("line\nopense", false, true)).toBe("line\n");
    expect(show("line\nopense", false, false)).toBe("line\nopense");
  });
});
