import { describe, expect, it } from "vitest";
import { BadSyntax, CannotSet } from "./config-document.ts";
import { parseToml } from "./toml-document.ts";

const set = (text: string) => parseToml(text).set("mcp_servers", "cloche", { command: "node", args: ["a b", 'c"d'] });
const OURS = '[mcp_servers.cloche]\ncommand = "node"\nargs = [ "a b", "c\\"d" ]';

const OTHERS = `# mine
model   = "x"     # why

[mcp_servers.other]
command='foo'
args = [ "a",  # first
  "b" ]

[mcp_servers."my server"]
command = "bar"
`;

describe("parseToml().set()", () => {
  it("adds the section at the end, and leaves the rest byte for byte", () => {
    expect(set(OTHERS)).toBe(`${OTHERS}\n${OURS}\n`);
    expect(set("")).toBe(`${OURS}\n`);
    expect(set("a = 1")).toBe(`a = 1\n\n${OURS}\n`);
  });

  it("replaces the section where it is, with those below it", () => {
    const old = '[mcp_servers.cloche]\ncommand = "old"\n\n# goes with the entry\n[mcp_servers.cloche.env]\nA = "b"\n';
    const tail = '\n# of the next\n[tail]\nlist = [\n  ["x"],\n]\n';
    expect(set(OTHERS + "\n" + old + tail)).toBe(`${OTHERS}\n${OURS}\n\n# goes with the entry\n${tail}`);
  });

  it("finds it under every way to write its name, and does not take another for it", () => {
    const other = '[mcp_servers.cloche2]\ncommand = "x"\n\n[other.mcp_servers.cloche]\ncommand = "y"\n';
    for (const header of ["[ mcp_servers . cloche ]", '["mcp_servers"."cloche"]', "[mcp_servers.'cloche'] # ours"])
      expect(set(`${header}\ncommand = "old"\n\n${other}`)).toBe(`${OURS}\n\n${other}`);
  });

  it("keeps lines that end as on Windows", () => {
    const text = 'a = 1\r\n[mcp_servers.cloche]\r\ncommand = "old"\r\n[b]\r\n';
    expect(set(text)).toBe(`a = 1\r\n${OURS.replaceAll("\n", "\r\n")}\r\n[b]\r\n`);
  });

  it.each([
    ["an inline table", 'mcp_servers = { cloche = { command = "old" } }\n'],
    ["a dotted key", 'mcp_servers.cloche.command = "old"\n'],
    ["a text that looks like a section", 'a = """\n[mcp_servers.cloche]\ncommand = "in a text"\n"""\n'],
  ])("refuses %s rather than change more than its own entry", (_, text) => {
    expect(() => set(text)).toThrow(CannotSet);
  });
});

describe("parseToml()", () => {
  it("says in which line and column the text is broken", () => {
    expect(() => parseToml('a = 1\nb = "x\n')).toThrow(BadSyntax);
    expect(() => parseToml("a = 1\nb = [")).toThrow(expect.objectContaining({ line: 2, column: 5 }) as Error);
  });
});
