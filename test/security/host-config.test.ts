import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { agentsPath } from "../helpers/agents.ts";
import { Installation } from "../helpers/installation.ts";

/** Claude Code's own command would put an empty file in the place of each of these, and say that all went well. */
const BROKEN: readonly (readonly [what: string, text: string | Buffer, where: RegExp])[] = [
  [
    "half a file",
    '{\n  "projects": {"/home/me": {}},\n  "mcpServers": {',
    /line 3, column 18: close brace expected here/,
  ],
  ["a comma too many", '{\n  "a": 1,\n}\n', /line 3, column 1: property name expected here/],
  ["a comment", '{\n  "a": 1 // mine\n}\n', /line 2, column 10: invalid comment token/],
  ["nothing", "", /line 1, column 1: value expected here/],
  ["no object", '["a"]\n', /line 1, column 1: it is not an object/],
  ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /it is no UTF-8 text/],
  ["servers in a list", '{"a": 1, "mcpServers": []}', /"mcpServers" in .* is not a table of servers/],
  ["an entry that is a text", '{"mcpServers": {"cloche": "x"}}', /"mcpServers\.cloche" in .* is not a server/],
];

const at = new Installation("h");
let test = 0;
let user: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  test += 1;
  user = at.path(`user${test}`);
  mkdirSync(user);
  env = {
    HOME: user,
    CLOCHE_HOME: join(user, ".cloche"),
    PATH: agentsPath(at.path(`bin${test}`), ["claude", "codex"]),
  };
});
afterAll(async () => await at[Symbol.asyncDispose]());

describe("G-20: the configuration of a host", () => {
  it.each(BROKEN)("that has %s stays as it is, and the error says where", async (_, text, where) => {
    const file = join(user, ".claude.json");
    writeFileSync(file, text);
    for (const words of [
      ["connect", "claude-code"],
      ["repair", "claude-code"],
    ]) {
      const refused = await at.cli(["host", ...words, "--json"], { env });
      expect(refused.code).toBe(2);
      const { error } = refused.json() as { error: { code: string; message: string } };
      expect(error.code).toBe("CONFIG_INVALID");
      expect(error.message).toContain(file);
      expect(error.message).toMatch(where);
      expect(readFileSync(file)).toEqual(Buffer.from(text));
    }
    const doctor = await at.cli(["host", "doctor"], { env });
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(where) as string });
    expect(readFileSync(file)).toEqual(Buffer.from(text));
    expect(readdirSync(user)).toEqual([".claude.json"]);
  });

  it.each([
    ["codex", ".codex/config.toml", 'a = 1\n[mcp_servers.cloche\ncommand = "x"\n', /line 2, column/],
    ["cursor", ".cursor/mcp.json", '{\n  "mcpServers": {\n', /line 3, column 1: close brace expected here/],
    ["opencode", ".config/opencode/opencode.json", '{"mcp": tru}', /line 1, column 9: invalid symbol/],
  ])("is left alone for %s too", async (name, path, text, where) => {
    const file = join(user, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    const refused = await at.cli(["host", "repair", name], { env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(where);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("is not changed when no backup can be kept", async () => {
    const text = '{"mcpServers": {"cloche": {"command": "old"}}}';
    writeFileSync(join(user, ".claude.json"), text);
    mkdirSync(join(user, ".cloche"));
    writeFileSync(join(user, ".cloche/host-backups"), "in the way");
    const refused = await at.cli(["host", "repair", "claude-code"], { env });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("error: Cannot keep a copy of") as string,
    });
    expect(readFileSync(join(user, ".claude.json"), "utf8")).toBe(text);
  });
});
