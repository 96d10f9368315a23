import { describe, expect, it } from "vitest";
import { BadSyntax, CannotSet } from "./config-document.ts";
import { parseJson } from "./json-document.ts";

const entry = { command: "node", args: ["a"] };
const set = (text: string, comments = true) => parseJson(text, { comments }).set("mcpServers", "cloche", entry);

describe("parseJson().set()", () => {
  it("leaves every other byte as it is, odd spaces and comments too", () => {
    const before =
      '{\n\t// mine\n\t"other":   [1,2 ],\n\t"mcpServers": {\n\t\t"x": {"url" :"u"} /* x */,\n\t\t"cloche": ';
    const after = ",\n\t}\n}";
    const old = '{"command": "old", "timeout": 5}';
    const indented = JSON.stringify(entry, null, "\t").replaceAll("\n", "\n\t\t");
    expect(set(before + old + after)).toBe(before + indented + after);
  });

  it("adds what is missing in the file's own indentation", () => {
    expect(set("{}")).toBe(JSON.stringify({ mcpServers: { cloche: entry } }, null, 2));
    expect(set('{\n    "a": 1\n}\n')).toBe(`${JSON.stringify({ a: 1, mcpServers: { cloche: entry } }, null, 4)}\n`);
  });

  it("refuses a file in which the entry is there twice", () => {
    expect(() => set('{"mcpServers": {"cloche": {}, "cloche": {"command": "b"}}}')).toThrow(CannotSet);
  });
});

describe("parseJson()", () => {
  it.each([
    ["", 1, 1],
    ['{"a": 1,\n  "b" 2}', 2, 7],
    ['{\n  "a": ', 2, 8],
    ["[]", 1, 1],
  ])("says where %j is broken", (text, line, column) => {
    expect(() => parseJson(text, { comments: true })).toThrow(BadSyntax);
    expect(() => parseJson(text, { comments: true })).toThrow(expect.objectContaining({ line, column }) as Error);
  });

  it("takes comments and commas at the end only where the host does", () => {
    for (const text of ['{"a": 1,}', '{"a": 1} // x']) {
      expect(parseJson(text, { comments: true }).value).toEqual({ a: 1 });
      expect(() => parseJson(text, { comments: false })).toThrow(BadSyntax);
    }
  });
});
