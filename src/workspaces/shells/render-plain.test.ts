import { describe, expect, it } from "vitest";
import { cpuTime } from "../../../test/helpers/cpu-time.ts";
import { renderPlain } from "./render-plain.ts";

const render = async (shown: string, fields: { before?: string; cols?: number; rows?: number } = {}) => {
  const { before = "", cols = 20, rows = 5 } = fields;
  return await renderPlain({ before: Buffer.from(before), shown: Buffer.from(shown), cols, rows });
};
const text = async (...args: Parameters<typeof render>) => (await render(...args)).text;

describe("renderPlain()", () => {
  it("applies carriage returns and backspaces, and drops colours, titles and bells", async () => {
    expect(await text("one\rtwo\r\nabX\bc\r\n")).toBe("two\nabc");
    expect(await text("\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\x07")).toBe("red x");
    expect(await text("50%\r\x1b[K100%")).toBe("100%");
  });

  it("keeps blanks inside, and trims the ends of lines and empty last lines", async () => {
    expect(await text("a  b   \r\n\r\nc \r\n\r\n\r\n")).toBe("a  b\n\nc");
    expect(await text("\ta")).toBe("        a");
    expect(await text("")).toBe("");
  });

  it("joins wrapped lines, also where a wide character did not fit", async () => {
    expect(await text("abcdefghij", { cols: 4 })).toBe("abcdefghij");
    expect(await text("abc日本def", { cols: 4 })).toBe("abc日本def");
    expect(await text("日本語\x1b[2D.\r\n")).toBe("日本.");
  });

  it("keeps all lines that scrolled away, in order", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    expect(await text(lines.join("\r\n"))).toBe(lines.join("\n"));
  });

  it("gives the line of the cursor and what follows, as they look after what came before", async () => {
    expect(await text("ls\r\nfile\r\n$ ", { before: "old\r\n$ " })).toBe("$ ls\nfile\n$");
    expect(await text("\b\b\b\b\b\b\x1b[Kwell", { before: "old\r\nbadly!" })).toBe("well");
    expect(await text("2", { before: "\x1b[31" })).toBe("");
    const before = Array.from({ length: 50 }, (_, index) => `${index}\r\n`).join("");
    expect(await text("new\r\n", { before })).toBe("new");
  });

  it("includes earlier lines of the screen that were changed", async () => {
    expect(await text("\x1b[2A\r\x1b[Ktwo: done\r\n\n", { before: "one\r\ntwo: 10%\r\nthree: 5%\r\n" })).toBe(
      "two: done\nthree: 5%",
    );
    expect(await text("\x1b[H\x1b[2J\x1b[3Jfresh", { before: "a\r\nb\r\nc\r\n" })).toBe("fresh");
    expect(await text("\x1b[H\x1b[Jfresh\r\nnext\r\n", { before: "a\r\nb\r\nc\r\n" })).toBe("fresh\nnext");
    expect(await text("more\r\n\x1b[2J\x1b[Hfresh", { before: "a\r\n".repeat(40) })).toBe("fresh");
  });

  it("shows the alternate screen while it is on, and the other one after it", async () => {
    const enter = "\x1b[?1049h\x1b[2J\x1b[Hfull\x1b[3;5Hscreen";
    expect(await text(`$ vi\r\n${enter}`)).toBe("full\n\n    screen");
    expect(await text(`$ vi\r\n${enter}\x1b[?1049l$ `)).toBe("$ vi\n$");
    expect(await text("\x1b[1;1HFULL", { before: enter })).toBe("FULL\n\n    screen");
    expect(await text("\x1b[?1049l$ ", { before: `$ vi\r\n${enter}` })).toBe("$");
  });

  it("says when lines did not fit into its memory", async () => {
    const { text: kept, lost } = await render("x\r\n".repeat(20_000), { cols: 1000 });
    expect(lost).toBe(true);
    expect(kept.split("\n").length).toBeLessThan(8000);
    expect((await render("x\r\n".repeat(5000), { cols: 1000 })).lost).toBe(false);
  });

  it.each([["S"], ["T"], ["L"], ["M"], ["@"], ["P"], ["X"], ["I"], ["Z"], ["b"]])(
    "is not kept busy by a sequence that asks to be repeated two thousand million times: %s",
    async (final) => {
      const took = await cpuTime(async () => expect(await text(`a\x1b[2147483647${final}\r\nb`)).toContain("b"));
      expect(took).toBeLessThan(1000);
    },
  );
});
