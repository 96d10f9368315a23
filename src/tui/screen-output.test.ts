import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { guardPicture, ScreenOutput } from "./screen-output.ts";

const ESC = "\u001B";

it("lets pass what draws the picture", () => {
  const drawn = `${ESC}[?2026h${ESC}[2K${ESC}[1A${ESC}[G${ESC}[1m${ESC}[38;2;1;2;3mx${ESC}[22m\n${ESC}[?25l${ESC}[?2026l`;
  expect(guardPicture(drawn)).toBe(drawn);
});

it("shows what nobody escaped, and does nothing that it says [G-129]", () => {
  expect(guardPicture(`${ESC}]0;t\u0007${ESC}[?1049l${ESC}[6n${ESC}c\u009B31m\u202Ex\r\t`)).toBe(
    String.raw`\x1b]0;t\x07\x1b[?1049l\x1b[6n\x1bc\x9b31m\u202ex\r\t`,
  );
});

it("passes on to the terminal, and has its width", () => {
  const terminal = new PassThrough();
  const output = new ScreenOutput(terminal, () => 77);
  output.write(`a${ESC}]0;x\u0007`);
  expect([output.columns, String(terminal.read())]).toEqual([77, String.raw`a\x1b]0;x\x07`]);
});
