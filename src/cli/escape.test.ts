import { expect, it } from "vitest";
import { escapeName, escapeOutput, escapeText } from "./escape.ts";

it("escapeName shows every control character and reordering mark", () => {
  expect(escapeName("a\u001B]0;owned\u0007b\nc\td")).toBe(String.raw`a\x1b]0;owned\x07b\nc\td`);
  expect(escapeName("\u009B31m \u007F \u202Egnp.exe \u2066x\u2028")).toBe(
    String.raw`\x9b31m \x7f \u202egnp.exe \u2066x\u2028`,
  );
});

it("escapeName leaves other letters alone", () => {
  expect(escapeName("naïve 名前 🫙 \\x1b")).toBe("naïve 名前 🫙 \\x1b");
});

it("escapeText keeps lines and tabs, and nothing else", () => {
  expect(escapeText("a\tb\nc\rd\u001B[2J")).toBe("a\tb\nc\\rd\\x1b[2J");
});

it("escapeOutput keeps colours and drops what moves the cursor", () => {
  expect(escapeOutput("\u001B[1;31mred\u001B[0m\r\n\u001B[2Jgone\u001B]52;c;x\u0007")).toBe(
    "\u001B[1;31mred\u001B[0m\n\\x1b[2Jgone\\x1b]52;c;x\\x07",
  );
});
