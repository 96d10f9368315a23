import { describe, expect, it } from "vitest";
import { decodeContent, encodeContent } from "./file-encoding.ts";

describe("content in JSON", () => {
  it("is text where it is text, else base64, and never changed", () => {
    for (const bytes of [
      Buffer.from(""),
      Buffer.from("h\u00e9llo\0\uFFFD\uFEFF"),
      Buffer.from([0xff, 0xfe, 0]),
      Buffer.from([0xc3]),
    ]) {
      const { content, encoding } = encodeContent(bytes, undefined, "a");
      expect(decodeContent(content, encoding, "a")).toEqual(bytes);
    }
    expect(encodeContent(Buffer.from("é"), undefined, "a").encoding).toBe("utf8");
    expect(encodeContent(Buffer.from([0xc3]), undefined, "a")).toEqual({ content: "ww==", encoding: "base64" });
  });

  it("is what was asked for, or an error that says so", () => {
    expect(encodeContent(Buffer.from("a"), "base64", "a")).toEqual({ content: "YQ==", encoding: "base64" });
    expect(() => encodeContent(Buffer.from([0xff]), "utf8", "a")).toThrow(/no UTF-8/);
  });

  it("is refused when it is no base64, and not cut there", () => {
    for (const text of ["%%%", "YQ==YQ==", "YQ=a", "Y", "é", "YQ===="]) {
      expect(() => decodeContent(text, "base64", "a"), text).toThrow(/no base64/);
    }
    for (const text of ["YQ==", "YQ", "Y Q\n==", ""]) {
      expect(decodeContent(text, "base64", "a").toString(), text).toBe(text === "" ? "" : "a");
    }
  });
});
