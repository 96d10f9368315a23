import { describe, expect, it } from "vitest";
import { isClocheError } from "../../base/errors.ts";
import type { CommandShape } from "../command.ts";
import { parseCount } from "./option-values.ts";
import { parseArguments } from "./parse-arguments.ts";

const plain: CommandShape = {
  words: ["thing", "make"],
  positionals: [
    { name: "ID", description: "" },
    { name: "PATH", description: "", optional: true },
  ],
  options: {
    count: { type: "string", description: "", parse: parseCount },
    colour: { type: "string", description: "", choices: ["red", "green"] },
    tag: { type: "string", description: "", multiple: true },
    loud: { type: "boolean", short: "l", description: "" },
    hidden: { type: "string", description: "", sensitive: true, parse: parseCount },
  },
};
const running: CommandShape = {
  words: ["go"],
  positionals: [{ name: "ID", description: "" }],
  options: {},
  takesCommand: true,
};

function refusal(command: CommandShape, ...args: string[]): { message: string; hint: string } {
  try {
    parseArguments(command, args);
  } catch (error) {
    if (isClocheError(error) && error.code === "USAGE") return { message: error.message, hint: error.hint };
    throw error;
  }
  throw new Error(`${args.join(" ")} was accepted`);
}

describe("parseArguments()", () => {
  it("takes options before, between and after positionals", () => {
    const parsed = parseArguments(plain, ["--tag", "a", "x", "-l", "y", "--tag=b", "--count", "3", "--json"]);
    expect(parsed.values).toEqual({ count: 3, colour: undefined, tag: ["a", "b"], loud: true, hidden: undefined });
    expect(parsed).toMatchObject({ positionals: { ID: "x", PATH: "y" }, json: true, verbose: false });
  });

  it("refuses an option of one value that is given twice, and takes a flag as often as it comes", () => {
    const refused = refusal(plain, "x", "--colour", "red", "--colour", "green");
    expect(refused).toMatchObject({ message: "--colour was given more than once" });
    expect(refusal(plain, "x", "--hidden=1", "--hidden=2").message).not.toContain("2");
    expect(parseArguments(plain, ["x", "-l", "--loud", "-v", "-v"]).values["loud"]).toBe(true);
  });

  it("passes the words after -- on as they are", () => {
    const parsed = parseArguments(running, ["a", "--", "sh", "--json", "-h", "--", ""]);
    expect(parsed).toMatchObject({ command: ["sh", "--json", "-h", "--", ""], json: false, help: false });
  });

  it("takes words after -- for positionals where there is no command to run", () => {
    expect(parseArguments(plain, ["--", "-odd", "--json"])).toMatchObject({
      positionals: { ID: "-odd", PATH: "--json" },
      json: false,
    });
  });

  it("asks for nothing else when help is asked for", () => {
    expect(parseArguments(running, ["-h"]).help).toBe(true);
  });

  it.each([
    [["x", "--cout", "1"], "Unknown option --cout", 'Did you mean "--count"?'],
    [["x", "-z"], "Unknown option -z", "cloche thing make --help"],
    [["--path", "x"], "Unknown option --path", "PATH is given without a flag before it."],
    [["x", "--constructor"], "Unknown option --constructor", "--help"],
    [["x", "--count", "many"], 'Invalid value "many" for --count: give a whole number above 0', "--help"],
    [["x", "--colour", "gren"], "red, green", 'Did you mean "green"?'],
    [["x", "--count"], "--count needs a value", "--help"],
    [["x", "--count", "--", "3"], "--count needs a value", "--help"],
    [["x", "--tag", "--loud"], "--tag needs a value", "`--tag=--loud`"],
    [["x", "--loud=yes"], "--loud takes no value", "--help"],
    [[], "Missing ID", "--help"],
    [[""], "ID is empty", "--help"],
    [["x", "y", "z"], 'Unexpected argument "z"', "--help"],
  ])("refuses %j", (args, message, hint) => {
    const refused = refusal(plain, ...args);
    expect(refused.message).toContain(message);
    expect(refused.hint).toContain(hint);
  });

  it("names the option for a path that is given without one", () => {
    const path = { type: "string", description: "", completes: "host-path" } as const;
    const taking = (...names: string[]) => ({ ...plain, options: Object.fromEntries(names.map((one) => [one, path])) });
    expect(refusal(taking("patch-file"), "x", "y", "z").hint).toContain("given with `--patch-file`");
    expect(refusal(taking("from", "to"), "x", "y", "z").hint).not.toContain("given with");
  });

  it("does not repeat a sensitive value", () => {
    for (const args of [
      ["x", "--hidden", "hush"],
      ["x", "--hidden", "-hush"],
    ]) {
      const refused = refusal(plain, ...args);
      expect(refused.message + refused.hint).not.toContain("hush");
    }
  });

  it("tells where a command goes when there is none", () => {
    for (const args of [["a"], ["a", "--"]]) expect(refusal(running, ...args).hint).toContain("after `--`");
  });

  it("takes all from the first word on that is not ours for the command, also without --", () => {
    const commandOf = (...args: string[]) => parseArguments(running, args);
    expect(commandOf("a", "ls", "-l", "--json")).toMatchObject({ command: ["ls", "-l", "--json"], json: false });
    expect(commandOf("--json", "a", "-v", "ls", "--help")).toMatchObject({
      command: ["ls", "--help"],
      positionals: { ID: "a" },
      json: true,
      verbose: true,
      help: false,
    });
    expect(commandOf("a", "git", "log", "--", "x").command).toEqual(["git", "log", "--", "x"]);
    expect(commandOf("a", "--", "git", "log", "--", "x").command).toEqual(["git", "log", "--", "x"]);
    expect(refusal(running, "a", "--nope", "ls").message).toBe("Unknown option --nope");
  });

  it("tells a first word that may be ours from the command", () => {
    const environment = { name: "ENVIRONMENT", description: "", optional: true };
    const shape: CommandShape = { ...running, positionals: [environment], isOwnWord: (word) => word === "host" };
    const parts = (...args: string[]) => {
      const { positionals, command } = parseArguments(shape, args);
      return [positionals["ENVIRONMENT"], ...command];
    };
    expect(parts("npm", "test")).toEqual([undefined, "npm", "test"]);
    expect(parts("npm", "run", "x", "--", "-y")).toEqual([undefined, "npm", "run", "x", "--", "-y"]);
    expect(parts("host", "npm", "test")).toEqual(["host", "npm", "test"]);
    expect(parts("host", "--", "npm", "test")).toEqual(["host", "npm", "test"]);
    expect(parts("--", "host", "-a")).toEqual([undefined, "host", "-a"]);
    // As it always was: what stands alone before `--` is the environment, whatever it looks like.
    expect(parts("debain", "--", "npm")).toEqual(["debain", "npm"]);
    expect(refusal(shape, "host")).toMatchObject({
      message: 'No command given: "host" is taken for ENVIRONMENT',
      hint: expect.stringContaining("`cloche go -- host`") as string,
    });
  });
});
