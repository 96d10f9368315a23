import { describe, expect, it } from "vitest";
import { type FrontMatter, parseFrontMatter } from "./front-matter.ts";

const parsed = (text: string): FrontMatter => {
  const result = parseFrontMatter(text);
  if ("problem" in result) throw new Error(`line ${result.line}: ${result.problem}`);
  return result;
};

describe("parseFrontMatter()", () => {
  it("gives the YAML, the body, and the line of each key", () => {
    const file = parsed("---\nenv:\n  A: b\negress:\n  routes:\n    - host: x\n    - hots: y\n---\nText.\n---\nmore\n");
    const { value, body } = file;
    expect(value).toEqual({ env: { A: "b" }, egress: { routes: [{ host: "x" }, { hots: "y" }] } });
    expect(body).toBe("Text.\n---\nmore\n");
    expect(file.lineOf(["env"])).toBe(2);
    expect(file.lineOf(["env", "A"])).toBe(3);
    expect(file.lineOf(["egress", "routes", 1, "hots"])).toBe(7);
    expect(file.lineOf(["egress", "routes", 1, "host"])).toBe(7);
    expect(file.lineOf(["nothing"])).toBe(2);
  });

  it.each([
    ["---\n---\n", {}],
    ["---\n# only a comment\n---", {}],
    ["\uFEFF---\r\nenv: {A: b}\r\n---\r\nText\r\n", { env: { A: "b" } }],
  ])("takes %j", (text, value) => {
    expect(parsed(text).value).toEqual(value);
  });

  it.each([
    ["", 1, "first line"],
    ["env: {}\n", 1, "first line"],
    ["---\nenv: {}\n", 1, "no second line"],
    ["---\nok: 1\nenv: {A: [\n---\n", 3, ""],
    ["---\na: 1\na: 2\n---\n", 3, "unique"],
    ["---\na: !!js/function 'x'\n---\n", 2, "tag"],
    ["---\na: 1\nhost: *.example.com\n---\n", 3, "star needs quotes"],
    [
      "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c]\n---\n",
      2,
      "alias",
    ],
  ])("refuses %j with its line", (text, line, words) => {
    const result = parseFrontMatter(text);
    expect(result).toMatchObject({ line });
    expect("problem" in result && result.problem).toContain(words);
  });

  it.each([
    ["lists on one line", "- ".repeat(32_000)],
    ["lists in brackets", `a: ${"[".repeat(60_000)}`],
    ["maps", `a: ${"{a: ".repeat(16_000)}`],
    ["lines", Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
  ])("G-175 makes no document of %s that are nested beyond measure", (_what, yaml) => {
    // Of the second one a process without the look before would end.
    for (let time = 0; time < 3; time++)
      expect(parseFrontMatter(`---\nb: 1\n${yaml}\n---\n`)).toMatchObject({ problem: "it is nested too deeply" });
  });

  it.each([
    ["nested keys", "? ".repeat(10), "a key must be a word"],
    ["keys that are nested more deeply", "? ".repeat(10_000), "too deeply"],
    ["many keys", Array.from({ length: 9000 }, (_, index) => `k${index}:`).join("\n"), "too much"],
    ["nested lists", `a: ${"[".repeat(100)}${"]".repeat(100)}`, "too deeply"],
    [
      "many aliases",
      Array.from({ length: 200 }, (_, index) => `k${index}: &a${index} 1\nm${index}: *a${index}`).join("\n"),
      "too many aliases",
    ],
    ["a large one", `a: ${"b".repeat(70_000)}`, "more than 65536 characters"],
  ])("G-25 refuses %s of a repository's file instead of keeping the daemon busy", (_what, yaml, words) => {
    const result = parseFrontMatter(`---\n${yaml}\n---\n`);
    expect("problem" in result && result.problem).toContain(words);
  });
});
