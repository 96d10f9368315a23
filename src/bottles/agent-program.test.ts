import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BottlePlan } from "../model/bottle-plan.ts";
import type { AgentProgram, ProgramPackage } from "../model/provider.ts";
import { requireToken } from "../policy/bottles/provider-answers.ts";
import { claude } from "../providers/claude.ts";
import { chooseProgram, commandIn } from "./agent-program.ts";

let root: string;
beforeEach(() => (root = realpathSync(mkdtempSync(join(tmpdir(), "cloche-agent-")))));
afterEach(() => rmSync(root, { recursive: true }));

const PACKAGE: ProgramPackage = { name: "tool-linux", version: "1.0.0", integrity: "", file: "tool" };
const PROGRAM: AgentProgram = {
  command: "tool",
  packages: { x64: PACKAGE, arm64: PACKAGE },
  install: "npm install --global tool",
  interpreter: null,
};
const provision = (program: AgentProgram, argv: readonly string[] = ["tool", "--go"]) =>
  ({ program, argv }) as unknown as BottlePlan["agent_provision"];
const choose = (environment: string, program: AgentProgram = PROGRAM) =>
  chooseProgram({ environment, agent_provision: provision(program) }, root);

function put(name: string): string {
  const file = join(root, name);
  writeFileSync(file, "\x7fELF", "latin1");
  chmodSync(file, 0o755);
  return file;
}

describe("chooseProgram()", () => {
  it("takes what this host has in the environment host, and the package elsewhere", () => {
    const path = put("tool");
    expect(choose("host")).toMatchObject({ isOfHost: true, files: { path, file: "tool" } });
    expect(choose("debian:12")).toMatchObject({ isOfHost: false, version: "1.0.0", files: { package: PACKAGE } });
    expect(choose("host", { ...PROGRAM, packages: {} })).toBeUndefined();
  });

  it("tells by its name what is not there, and what to do", () => {
    expect(() => choose("host")).toThrow(
      expect.objectContaining({
        code: "AGENT_PROGRAM_NOT_FOUND",
        message: 'There is no program "tool" on this host',
        hint: expect.stringMatching(/^Install it with `npm install --global tool`, or name debian:12 /) as string,
      }) as Error,
    );
    const other = { [process.arch === "x64" ? "arm64" : "x64"]: PACKAGE };
    expect(() => choose("debian:12", { ...PROGRAM, packages: other })).toThrow(
      /no package of "tool" for this processor/,
    );
  });

  it("wants the interpreter of a script too", () => {
    put("tool");
    const scripted = { ...PROGRAM, interpreter: { command: "runner", packages: { x64: PACKAGE, arm64: PACKAGE } } };
    expect(() => choose("host", scripted)).toThrow('There is no program "runner" on this host');
    put("runner");
    expect(choose("host", scripted)?.interpreter).toMatchObject({ command: "runner" });
  });
});

describe("commandIn()", () => {
  it("calls a program that was added by its path, and any other by its name", () => {
    expect(commandIn("agent:tool-1.0.0-abc/debian:12", provision(PROGRAM))).toEqual(["/cloche/bin/tool", "--go"]);
    expect(commandIn("debian:12", provision(PROGRAM))).toEqual(["tool", "--go"]);
    expect(commandIn("agent:x/host", provision(PROGRAM, ["sh", "-c", "tool"]))[0]).toBe("sh");
  });
});

describe("a credential", () => {
  const choice = { auth_token: "MY_TOKEN", settings: {} };

  it("of the wrong kind is refused at launch, with its variable and without its value", () => {
    const value = "sk-ant-api03-abcdef";
    expect(() => requireToken(claude, choice, value)).toThrow(
      "claude cannot use the value of MY_TOKEN: it is an API key: set agent_provider.settings.auth to api_key",
    );
    expect(() => requireToken(claude, choice, "sk-ant-oat01-abcdef")).not.toThrow();
  });

  it.each([
    ["repeats it", (_: unknown, value: string) => `no ${value}`, "it does not fit"],
    [
      "throws",
      (_: unknown, value: string) => {
        throw new Error(value);
      },
      "its provider cannot read it",
    ],
    ["says no words", () => ({}) as never, "it does not fit"],
  ])("G-63: is not in the error of a plugin that %s", (_, checkToken, words) => {
    expect(() => requireToken({ ...claude, checkToken }, choice, "the-value")).toThrow(
      expect.objectContaining({ message: `claude cannot use the value of MY_TOKEN: ${words}` }) as Error,
    );
  });
});
