import { expect, it } from "vitest";
import { hangText, wrapText } from "./wrap-text.ts";

it("wrapText breaks between words, keeps lines of its own and never breaks a word", () => {
  expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapText("one two", 80)).toEqual(["one two"]);
  expect(wrapText("a\n\nb c", 3)).toEqual(["a", "", "b c"]);
  expect(wrapText("see /a/long/path there", 5)).toEqual(["see", "/a/long/path", "there"]);
  expect(wrapText("🫙🫙 🫙🫙", 5)).toEqual(["🫙🫙 🫙🫙"]);
  expect(wrapText("", 5)).toEqual([""]);
});

it("hangText sets further lines in under the first", () => {
  expect(hangText("hint: ", 6, "one two three", 13)).toEqual(["hint: one two", "      three"]);
  expect(hangText("name  ", 6, "", 13)).toEqual(["name"]);
});
