import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDetector } from "./create-detector.ts";
import { TOKEN_RULES } from "./rules/token-rules.ts";

const VALUE = ["kJ8s", "Qp2v", "Zx7L", "m4Rt", "Yw9B", "n3Dc"].join("");
const scan = createDetector({ known: [{ detector: "known_secrets", name: "SECRET", value: VALUE }] }).scope();
const hitOf = (id: string): string => TOKEN_RULES.find((rule) => rule.id === id)?.hit() ?? "";
/** Rules of each kind: with a border, with something before their keyword, and keys of many lines. */
const IDS = [
  "github-pat",
  "npm-token",
  "jwt",
  "vault-token",
  "aws-access-key-id",
  "slack-webhook",
  "postgres-url",
  "rsa-private-key",
];
const found = (text: string | Buffer): string[] => {
  const body = scan.body({ mode: "find" });
  body.push(Buffer.from(text as string));
  body.end();
  return body.findings.map(({ rule }) => rule);
};
const codes = (text: string, write: (byte: number) => string) => Array.from(Buffer.from(text), (byte) => write(byte));
const hex2 = (byte: number) => byte.toString(16).padStart(2, "0");
const hex4 = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
const joinedBy = (separator: string) => (text: string) => Array.from(text).join(separator);
const cutInto = (size: number, separator: string) => (text: string) =>
  (text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).join(separator);

/** What stands between the characters of a value, and is nothing to whoever reads it. */
const BETWEEN: Readonly<Record<string, (text: string) => string>> = {
  "zero width": joinedBy("\u200b"),
  "one of zero width": (text) => `${text.slice(0, 9)}\u200b${text.slice(9)}`,
  "zero width as escapes of JSON": joinedBy("\\u200b"),
  "one of zero width as an escape of JSON": (text) => `${text.slice(0, 2)}\\u200b${text.slice(2)}`,
  "zero width in a URL": joinedBy("%E2%80%8B"),
  "zero width in a page": joinedBy("&#8203;"),
  "zero width by its name": joinedBy("&zwnj;"),
  "soft hyphens": joinedBy("\u00ad"),
  "marks of direction": joinedBy("\u200f"),
  "selectors of variants": joinedBy("\ufe0f"),
  "word joiners, as escapes": joinedBy("\\u2060"),
  "marks on letters": (text) => text.replaceAll(/[A-Za-z0-9]/g, "$&\u0301"),
  "comments of HTML": cutInto(9, "<!--x-->"),
  "empty parts of a template": cutInto(9, '${""}'),
  "strings that are put together": (text) => `"${cutInto(9, '" + "')(text)}"`,
  "strings that are put together, in a string": (text) => `\\"${cutInto(9, '\\" + \\"')(text)}\\"`,
  "breaks of CDATA": (text) => `<![CDATA[${cutInto(9, "]]><![CDATA[")(text)}]]>`,
  "soft breaks of quoted-printable": cutInto(20, "=\r\n"),
  "lines that go on": cutInto(20, "\\\n"),
  // Each character, with the same between all of them.
  dots: joinedBy("."),
  dashes: joinedBy("-"),
  "a comma and a space": joinedBy(", "),
  "breaks as escapes": joinedBy("\\n"),
};
const WRITTEN: typeof BETWEEN = {
  "two halves of characters": (text) =>
    text.replaceAll(/[A-Z]/g, (one) => `\\ud835\\u${(0xdc00 + one.charCodeAt(0) - 65).toString(16)}`),
  "percent signs that are longer than they may be": (text) =>
    text.replaceAll(/[^]/g, (one) => `%c${one.charCodeAt(0) >> 6}%${((one.charCodeAt(0) & 63) | 128).toString(16)}`),
  "all of quoted-printable": (text) =>
    text.replaceAll(/[^]/g, (one) => `=${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`),
  "Greek letters": (text) => text.replaceAll("A", "\u0391").replaceAll("P", "\u03a1"),
  "base64 of escapes of JSON": (text) => Buffer.from(Array.from(text, hex4).join("")).toString("base64"),
  "base64 of percent signs": (text) =>
    Buffer.from(text.replaceAll(/[^]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, "0")}`)).toString(
      "base64",
    ),
  "base64 in short lines": (text) => cutInto(20, "\r\n")(Buffer.from(`some words, ${text}`).toString("base64")),
  "hex with colons": (text) => codes(text, (byte) => hex2(byte)).join(":"),
  "hex with spaces, in pairs": (text) => cutInto(4, " ")(codes(text, hex2).join("")),
  "numbers of C": (text) => `{ ${codes(text, (byte) => `0x${hex2(byte).toUpperCase()}`).join(", ")} }`,
  "numbers in lines": (text) => codes(text, (byte) => `0x${hex2(byte)}`).join(",\n  "),
  "base64 before a word": (text) => `${Buffer.from(text).toString("base64url")} and more`,
};

describe("G-192 what stands between the characters of a value, and is nothing to a reader, hides nothing", () => {
  it.each(Object.entries({ ...BETWEEN, ...WRITTEN }))("of a known value: %s", (_, write) => {
    expect(found(`{"text":"words ${write(VALUE)}"}`)).toContain("known-secret");
  });

  it.each(Object.entries({ ...BETWEEN, ...WRITTEN }))("of tokens: %s", (_, write) => {
    expect(IDS.filter((id) => !found(`words ${write(hitOf(id))}`).includes(id))).toEqual([]);
  });

  it.each([
    ["little", (text: string) => Buffer.from(text, "utf16le")],
    ["big", (text: string) => Buffer.from(text, "utf16le").swap16()],
  ])("of tokens in UTF-16, the %s end first", (_, write) => {
    expect(IDS.filter((id) => !found(write(`{"text":"${hitOf(id)}"}`)).includes(id))).toEqual([]);
  });

  it("in any mix, wherever they stand", () => {
    const unseen = ["\u200b", "\u2060", "\u00ad", "\\u200d", "%E2%80%8B", "&#8203;", "\ufeff", "&shy;"];
    fc.assert(
      fc.property(
        fc.constantFrom(...IDS, "known-secret"),
        fc.array(fc.tuple(fc.nat(2000), fc.constantFrom(...unseen)), { minLength: 1, maxLength: 30 }),
        (id, gaps) => {
          let text = id === "known-secret" ? VALUE : hitOf(id);
          for (const [at, gap] of gaps.toSorted(([one], [other]) => other - one))
            // An escape in an escape is another one.
            if (at < text.length) text = `${text.slice(0, at)}${gap}${text.slice(at)}`;
          expect(found(`{"text":"${text.replaceAll("\n", "\\n")}"}`)).toContain(id);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("what has such characters and no value in it", () => {
  it.each([
    ["a list of names", Array.from({ length: 200 }, (_, at) => `identifier${at * 7919}Name`).join("\n")],
    ["Chinese, in escapes", "\\u4f60\\u597d\\uff0c\\u4e16\\u754c\\u3002".repeat(200)],
    ["Russian", "Сегодня хорошая погода, и мы пишем программу. ".repeat(50)],
    ["quotation marks", "\u201cIt\u2019s fine\u201d \u2014 he said\u2026 ".repeat(50)],
    ["source code", 'const text = `${one}${""}two` + "three" + \'four\';\nfor (;;) a=10&b=2F;\n'.repeat(50)],
    ["words with spaces between letters", "N P M  I S  G R E A T ,  A K I A  T O O ".repeat(30)],
    ["an array of numbers", JSON.stringify(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 256))],
    ["an array of long numbers", JSON.stringify(Array.from({ length: 2000 }, (_, at) => Math.sin(at)))],
    ["a dump", Array.from({ length: 3000 }, (_, at) => hex2((at * 7919) % 251)).join(" ")],
    ["a page", "<!DOCTYPE html><!-- a comment --><p>some &amp; text</p>\n".repeat(50)],
  ])("passes: %s", (_, text) => {
    expect(found(JSON.stringify({ text }))).toEqual([]);
    expect(found(text)).toEqual([]);
  });
});

it.each([
  "n.p.m._.",
  "A.K.I.A.",
  "e.y.J.h.b.G.c.i.O.i.x ",
  "H4sIAAAAAAAAA\n",
  "78 9c eJw789c",
  "41:4b:49:41:",
  "65,75,73,65,",
  "0x41, 0x4b, 0x49, 0x41, ",
])("a text that is full of %j costs no more than others", (words) => {
  const bytes = Buffer.from(words.repeat(Math.ceil((256 * 1024) / words.length)));
  const before = process.cpuUsage();
  found(bytes);
  for (let at = 0; at < bytes.length; at += 32_000) found(bytes.subarray(at, at + 32_000));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2000);
});
