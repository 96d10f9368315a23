import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createColours } from "../../src/cli/output/colour.ts";
import { formatHelp, helpDocument, type HelpDocument } from "../../src/cli/help.ts";
import { COMMAND_TREE } from "../../src/cli/registry.ts";
import {
  CONTRACT_ALIASES,
  CONTRACT_COMMANDS,
  CONTRACT_EXIT_CODES,
  CONTRACT_GLOBAL_FLAGS,
  CONTRACT_GROUPS,
  CONTRACT_MCP_MODES,
  CONTRACT_MCP_PROFILES,
  CONTRACT_MCP_TOOLS,
  CONTRACT_SDK_METHODS,
  CONTRACT_VARIABLES,
} from "./public-names.ts";
import { ERROR_CODES } from "../../src/model/error-codes.ts";
import { OPERATIONS } from "../../src/model/operations.ts";
import { MODE_NAMES, PROFILE_NAMES, PROFILES } from "../../src/mcp/profiles.ts";
import { TOOLS } from "../../src/mcp/tool-registry.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { InstallationCalls } from "../../src/sdk/installation-calls.ts";
import { ApprovalCalls } from "../../src/sdk/approval-calls.ts";
import { AuditCalls } from "../../src/sdk/audit-calls.ts";
import { RunCalls } from "../../src/sdk/run-calls.ts";

const root = join(import.meta.dirname, "../..");
const visible = COMMAND_TREE.commands.filter((entry) => !entry.hidden);
const plain = createColours(false);

/** The flags at the start of the lines of one section of the help's text. */
function flagsIn(text: string, section: string): string[] {
  const body = text.split(`\n${section}:\n`)[1]?.split("\n\n")[0] ?? "";
  return [...body.matchAll(/^ {2}(?:-\w,| {3}) (--[a-z-]+)/gm)].map((match) => match[1]!);
}

describe("the contract and the CLI", () => {
  it("have the same commands and groups", () => {
    expect(visible.map(({ words }) => words.join(" ")).toSorted()).toEqual(Object.keys(CONTRACT_COMMANDS).toSorted());
    expect(COMMAND_TREE.groups.map(({ words }) => words.join(" ")).toSorted()).toEqual([...CONTRACT_GROUPS].toSorted());
    const aliases = COMMAND_TREE.groups.flatMap(({ alias, words }) =>
      alias === undefined ? [] : [[alias, words.join(" ")]],
    );
    expect(Object.fromEntries(aliases)).toEqual(CONTRACT_ALIASES);
  });

  it.each(Object.entries(CONTRACT_COMMANDS))("agree about `%s`", async (name, contract) => {
    const words = name.split(" ");
    const text = formatHelp(await helpDocument(COMMAND_TREE, words), plain, Infinity);
    expect(flagsIn(text, "Options").toSorted()).toEqual([...contract.flags].toSorted());
    expect(flagsIn(text, "Everywhere")).toEqual(CONTRACT_GLOBAL_FLAGS);
    const usage = /^Usage: cloche (.*)$/m.exec(text)?.[1] ?? "";
    expect(usage.split(" ")).toEqual([
      ...words,
      ...contract.positionals,
      ...(contract.required ?? []).flatMap((flag) => flag.split(" ")),
      "[options]",
      ...(contract.command ? ["--", "CMD…"] : []),
    ]);
  });

  it("loads for each entry the command of the same words and summary, with examples that start with the program", async () => {
    for (const entry of COMMAND_TREE.commands) {
      const command = await entry.load();
      expect([command.words, command.summary]).toEqual([entry.words, entry.summary]);
      if (entry.hidden) continue;
      expect(command.examples.length, entry.words.join(" ")).toBeGreaterThan(0);
      for (const example of command.examples) expect(example).toContain(`cloche ${entry.words.join(" ")}`);
    }
  });

  it("lists each group's commands in the group's help", async () => {
    const collect = async (words: readonly string[]): Promise<string[]> => {
      const help: HelpDocument = await helpDocument(COMMAND_TREE, words);
      const below = help.commands.map(({ name }) => [...words, name]);
      const isGroup = (path: readonly string[]) => (CONTRACT_GROUPS as readonly string[]).includes(path.join(" "));
      const found = await Promise.all(
        below.map(async (path) => [...(isGroup(path) ? [] : [path.join(" ")]), ...(await collect(path))]),
      );
      return found.flat();
    };
    expect((await collect([])).toSorted()).toEqual(Object.keys(CONTRACT_COMMANDS).toSorted());
  });
});

it("the contract and the SDK have the same methods", () => {
  const prototypes = [
    ...[Cloche.prototype, RunCalls.prototype, AuditCalls.prototype],
    ...[ApprovalCalls.prototype, InstallationCalls.prototype],
  ];
  const methods = prototypes.flatMap((one) => Object.getOwnPropertyNames(one)).filter((name) => name !== "constructor");
  expect(methods.toSorted()).toEqual([...CONTRACT_SDK_METHODS].toSorted());
  expect(Symbol.asyncDispose in Cloche.prototype).toBe(true);
});

it("the contract and the MCP server have the same tools, profiles and modes, and a file for each tool", async () => {
  expect(PROFILES["workspace-full"].toSorted()).toEqual(CONTRACT_MCP_TOOLS.toSorted());
  expect(PROFILE_NAMES).toEqual(CONTRACT_MCP_PROFILES);
  expect(MODE_NAMES).toEqual(CONTRACT_MCP_MODES);
  for (const [name, tool] of Object.entries(TOOLS)) expect(tool.name).toBe(name);
  const files = await readdir(join(root, "src/mcp/tools"));
  expect(files.toSorted()).toEqual(CONTRACT_MCP_TOOLS.map((name) => `${name.replaceAll("_", "-")}.ts`).toSorted());
});

it("the command that an operation's row names is one of the contract's", () => {
  const named = Object.values(OPERATIONS).flatMap(({ cli }) => (cli === null ? [] : [cli]));
  expect(named.filter((words) => !Object.hasOwn(CONTRACT_COMMANDS, words))).toEqual([]);
  expect(named.length).toBeGreaterThan(40);
});

it("the contract and the source name the same environment variables", async () => {
  const files = await readdir(join(root, "src"), { recursive: true });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const texts = await Promise.all(sources.map((file) => readFile(join(root, "src", file), "utf8")));
  const used = new Set(
    texts.flatMap((text) => text.match(/(?<=["'`])CLOCHE_[A-Z_]+(?=["'`])|(?<=\benv\.)CLOCHE_[A-Z_]+/g) ?? []),
  );
  expect([...used].toSorted()).toEqual([...CONTRACT_VARIABLES].toSorted());
});

it("every error code exits with one of the contract's codes and has a hint", () => {
  const allowed: number[] = Object.values(CONTRACT_EXIT_CODES).filter((code) => code !== CONTRACT_EXIT_CODES.done);
  for (const [code, { exit, hint }] of Object.entries(ERROR_CODES)) {
    expect(allowed, code).toContain(exit);
    expect(hint, code).not.toBe("");
  }
});
