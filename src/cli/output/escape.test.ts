import xterm, { type Terminal } from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeName, escapeOutput, escapeText, formatJson, guardScreen } from "./escape.ts";

const ESC = "\u001B";
const RED = `${ESC}[31m`;
const END = `${ESC}[0m`;

describe("escapeName()", () => {
  it("shows every control character and reordering mark", () => {
    expect(escapeName("a\u001B]0;owned\u0007b\nc\td")).toBe(String.raw`a\x1b]0;owned\x07b\nc\td`);
    expect(escapeName("\u009B31m \u007F \u202Egnp.exe \u2066x\u2028")).toBe(
      String.raw`\x9b31m \x7f \u202egnp.exe \u2066x\u2028`,
    );
  });

  it("shows what a terminal would draw nothing for", () => {
    expect(escapeName("a\u200Bb\u200Dc\uFEFFd\u00ADe\u3164f\u{E0041}g\uFE0F\uFFF9")).toBe(
      String.raw`a\u200bb\u200dc\ufeffd\xade\u3164f\u{e0041}g\ufe0f\ufff9`,
    );
  });

  it("leaves other letters alone", () => {
    for (const text of ["naïve 名前 🫙 \\x1b", "⚠️ é e\u0301 ✔️", "\u00A0"]) expect(escapeName(text)).toBe(text);
  });
});

it("escapeText keeps lines and tabs, and nothing else", () => {
  expect(escapeText("a\tb\nc\rd\u001B[2J")).toBe("a\tb\nc\\rd\\x1b[2J");
});

describe("escapeOutput()", () => {
  it.each<[string, string, string]>([
    ["a colour", `${ESC}[1;31mred${END}\r\nplain`, `${ESC}[1;31mred${END}\nplain`],
    ["a colour that nobody ends", `${RED}red`, `${RED}red${END}`],
    ["a colour over lines", `${RED}a\nb${ESC}[39mc`, `${RED}a${END}\n${RED}b${END}c`],
    ["a colour of nothing", `a${RED}${END}b`, "ab"],
    ["a colour at a line's end", `a${RED}\n`, "a\n"],
    ["no numbers at all", `${RED}a${ESC}[mb`, `${RED}a${END}b`],
    ["a colour by number", `${ESC}[38;5;9mx`, `${ESC}[91mx${END}`],
    ["an underline of a kind", `${ESC}[4:3mx${ESC}[4:0my`, `${ESC}[4mx${END}y`],
    ["concealed text", `${ESC}[8mhidden${ESC}[28m`, "hidden"],
    ["concealed text in a colour", `${ESC}[1;8;31mx`, `${ESC}[1;31mx${END}`],
    ["concealed text behind a colour's numbers", `${ESC}[38;2;1;1;8mx${ESC}[48;5;8my`, "xy"],
    ["dim, blinking and struck text", `${ESC}[2;5;6;9mx`, "x"],
    ["black on black and white on white", `${ESC}[30;40mx${ESC}[97;107my${ESC}[7mz`, "xyz"],
    ["grey and colours of one's own", `${ESC}[90ma${ESC}[38;2;0;0;0mb${ESC}[38:5:0mc${ESC}[38;5;232md`, "abcd"],
    ["a colour that was, then black", `${RED}a${ESC}[38;5;0mb`, `${RED}a${END}b`],
    ["a screen that is cleared", `${ESC}[2Jgone`, String.raw`\x1b[2Jgone`],
    ["a title", `${ESC}]0;owned\u0007`, String.raw`\x1b]0;owned\x07`],
    ["a clipboard", `${ESC}]52;c;x${ESC}\\`, String.raw`\x1b]52;c;x\x1b` + "\\"],
    ["a link", `${ESC}]8;;http://x${ESC}\\text`, String.raw`\x1b]8;;http://x\x1b` + "\\text"],
    ["a device's string", `${ESC}P$qm${ESC}\\`, String.raw`\x1bP$qm\x1b` + "\\"],
    ["eight-bit sequences", "\u009B8mx\u009D0;t\u009C\u0090q\u0085", String.raw`\x9b8mx\x9d0;t\x9c\x90q\x85`],
    ["another alphabet", `\u000E${ESC}(0lqk`, String.raw`\x0e\x1b(0lqk`],
    ["a line written over", "safe\revil", String.raw`safe\revil`],
    ["a letter taken back", "a\bb\u007F", String.raw`a\x08b\x7f`],
    ["a bell", "\u0007", String.raw`\x07`],
    ["reordered text", "a\u202Eb\u2066", String.raw`a\u202eb\u2066`],
    ["a sequence within another", `${ESC}[3${ESC}[8m1mx`, String.raw`\x1b[31mx`],
    ["a sequence without an end", `${ESC}[31`, String.raw`\x1b[31`],
    ["more numbers than anybody needs", `${ESC}[${"1;".repeat(40)}8mx`, String.raw`\x1b[${"1;".repeat(40)}8mx`],
  ])("%s", (_, text, shown) => expect(escapeOutput(text)).toBe(shown));
});

describe("formatJson()", () => {
  it("says the same as JSON, and drives nothing", () => {
    const document = { a: "\u009B8m\u202E\u{E0041}\u007F\u001B[2J é 名", list: ["x\ny", 1, null] };
    const text = formatJson(document);
    expect(JSON.parse(text)).toEqual(document);
    expect(escapeText(text)).toBe(text);
    expect(text).toContain("é 名");
  });
});

const PIECES = [
  ...["\n", "\t", "\r", "\r\n", "\b", "\u0007", "\u000E", "\u000F", " ", "a", "Z", "0", ";", "m", "8", "31", "é", "名"],
  ...[
    ESC,
    `${ESC}[`,
    `${ESC}]`,
    `${ESC}P`,
    `${ESC}_`,
    `${ESC}^`,
    `${ESC}c`,
    `${ESC}7`,
    `${ESC}8`,
    `${ESC}M`,
    `${ESC}#8`,
  ],
  ...["0", "1", "2", "4", "5", "7", "8", "31", "40", "38;5;1", "48;2;1;2;3", "38:2::1:1:1"].map(
    (code) => `${ESC}[${code}m`,
  ),
  ...[`${ESC}[?1049h`, `${ESC}[?25l`, `${ESC}[2J`, `${ESC}[5;5H`, `${ESC}[6n`, `${ESC}[3A`, `${ESC}[4h`, `${ESC}[2;5r`],
  ...["\u0085", "\u0090", "\u009B", "\u009C", "\u009D", "\u200B", "\u200F", "\u202E", "\u2066", "\u2028", "\uFE0F"],
];

const random = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join("")),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("utf8")),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => Buffer.from(text).toString("utf8")),
);

/** What a real terminal shows for a text, what it answers, and how it writes afterwards. */
async function screenOf(text: string) {
  const terminal: Terminal = new xterm.Terminal({
    cols: 400,
    rows: 60,
    convertEol: true,
    allowProposedApi: true,
    logLevel: "off",
  });
  let answers = "";
  const events: string[] = [];
  terminal.onData((data) => (answers += data));
  terminal.onTitleChange((title) => events.push(title));
  terminal.onBell(() => events.push("bell"));
  try {
    await new Promise<void>((done) => terminal.write(text, done));
    const { active } = terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true).trimEnd() ?? "",
    );
    const hidden: string[] = [];
    const cell = active.getNullCell();
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      if (!line || line.translateToString(true) === "") continue; // nothing was written there
      for (let column = 0; column < 400; column++) {
        if (!line.getCell(column, cell) || cell.getChars() === "") continue;
        if (cell.isInvisible() || cell.isBlink() || cell.isDim() || cell.isInverse() || !cell.isBgDefault())
          hidden.push(cell.getChars());
      }
    }
    const place = { row: active.baseY + active.cursorY, column: active.cursorX };
    const modes = { ...terminal.modes };
    await new Promise<void>((done) => terminal.write("#", done));
    const next = active.getLine(place.row)?.getCell(place.column);
    return {
      lines: lines.join("\n").trimEnd(),
      hidden,
      answers,
      events,
      modes,
      kind: active.type,
      next: { text: next?.getChars(), plain: next?.isAttributeDefault() },
    };
  } finally {
    terminal.dispose();
  }
}

/** The letters of a cleaned text, as a terminal lays them out. */
const letters = (cleaned: string): string =>
  cleaned
    // eslint-disable-next-line no-control-regex -- colours are not letters
    .replace(/\x1b\[[0-9;]*m/g, "")
    .split("\n")
    .map((line) => {
      let shown = "";
      for (const part of Array.from(line)) {
        const width = Array.from(shown).reduce((sum, one) => sum + (one === "名" ? 2 : 1), 0);
        shown += part === "\t" ? " ".repeat(8 - (width % 8)) : part;
      }
      return shown.trimEnd();
    })
    .join("\n")
    .trimEnd();

describe("G-27 on a real terminal", () => {
  const fresh = screenOf("");

  it.each([
    ["escapeName", escapeName],
    ["escapeText", escapeText],
    ["escapeOutput", escapeOutput],
    ["guardScreen after escapeOutput", (text: string) => guardScreen(escapeOutput(text))],
    ["formatJson", (text: string) => formatJson({ text })],
  ])(
    "%s: nothing is hidden, answered or switched, and no style stays behind",
    async (_, clean) => {
      const { modes, kind } = await fresh;
      await fc.assert(
        fc.asyncProperty(random, async (text) => {
          const screen = await screenOf(clean(text));
          expect(screen).toMatchObject({
            hidden: [],
            answers: "",
            events: [],
            modes,
            kind,
            next: { text: "#", plain: true },
          });
        }),
        { numRuns: 300 },
      );
    },
    120_000,
  );

  it("what is seen is the cleaned text, letter by letter", async () => {
    const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((all) => all.join(""));
    await fc.assert(
      fc.asyncProperty(pieces, async (text) => {
        const cleaned = escapeOutput(text);
        expect((await screenOf(cleaned)).lines).toBe(letters(cleaned));
      }),
      { numRuns: 300 },
    );
  }, 120_000);

  it("whatever was forgotten to be escaped does no harm at the last look", async () => {
    const { modes, kind } = await fresh;
    await fc.assert(
      fc.asyncProperty(random, async (text) => {
        const screen = await screenOf(guardScreen(text));
        expect(screen).toMatchObject({ answers: "", events: [], modes, kind });
        expect(screen.next.text).toBe("#");
      }),
      { numRuns: 200 },
    );
  }, 120_000);
});
