import { describe, expect, it } from "vitest";
import { placeOf, projectFiles, readProjectFile } from "./project-files.ts";
import { findStrings } from "./source-imports.ts";

const MAX_LINES = 400;

const GRAB_BAG = /^(utils?|helpers?|common|misc|shared|tools)$/;
/** A tool is what MCP calls a thing that can be called. */
const IN_ITS_OWN_SENSE = "src/mcp/tools/";
const GUARANTEES = "docs/guarantees.md";

const files = projectFiles();
const sources = files.filter((file) => /^src\/.*\.tsx?$/.test(file));
const guest = files.filter((file) => /^guest\/.*\.[ch]$/.test(file));
const shipped = [...sources.filter((file) => !file.endsWith(".test.ts")), ...guest];
const tests = files.filter((file) => /\.test\.ts$/.test(file));
const texts = new Map([...new Set([...sources, ...guest, ...tests])].map((file) => [file, readProjectFile(file)]));
const textOf = (file: string): string => texts.get(file) ?? "";

/** The places in some files where a pattern matches. */
function findAll(where: readonly string[], pattern: RegExp): string[] {
  return where.flatMap((file) =>
    [...textOf(file).matchAll(pattern)].map(
      (match) => `${placeOf(file, textOf(file), match.index)} ${match[0].trim()}`,
    ),
  );
}

describe("files", () => {
  it(`have at most ${MAX_LINES} lines in src/ and guest/, or a reason`, () => {
    const sizes = new Map([...sources, ...guest].map((file) => [file, textOf(file).split("\n").length - 1]));
    const report = (name: string, chosen: readonly string[]) => {
      const sorted = chosen.map((file) => sizes.get(file) ?? 0).sort((one, other) => one - other);
      const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
      const largest = chosen.find((file) => sizes.get(file) === sorted.at(-1)) ?? "none";
      console.info(
        `${name}: ${sorted.length} files, median ${at(0.5)} lines, p95 ${at(0.95)}, largest ${largest} ${at(1)}`,
      );
    };
    report(
      "src",
      shipped.filter((file) => file.startsWith("src/")),
    );
    report("guest", guest);
    report(
      "tests",
      sources.filter((file) => file.endsWith(".test.ts")),
    );
    const long = [...sizes].filter(([, lines]) => lines > MAX_LINES).map(([file]) => file);
    expect(long).toEqual([]);
  });

  it("have names in kebab-case, after what they hold", () => {
    const parts = (file: string) => file.replace(/(\.test)?\.tsx?$/, "").split("/");
    expect(sources.filter((file) => !parts(file).every((part) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(part)))).toEqual([]);
    expect(
      [...sources, ...guest].filter((file) =>
        file
          .replace(IN_ITS_OWN_SENSE, "src/mcp/")
          .split(/[/.]/)
          .some((part) => GRAB_BAG.test(part)),
      ),
    ).toEqual([]);
  });

  it("hear of an aborted signal by `onAbort`: a listener misses one that has come already", () => {
    const listener = /\.addEventListener\(\s*"abort"/g;
    const where = shipped.filter((file) => file !== "src/base/on-abort.ts");
    expect(findAll(["src/base/on-abort.ts"], listener)).toHaveLength(1);
    expect(findAll(where, listener)).toEqual([]);
  });

  it("say what is to do where they say TODO", () => {
    const words = /\b(?:TODO|FIXME|XXX)\b(?!(?:\([^)]+\))?:? *[A-Za-z]+ +[A-Za-z]+).*/g;
    expect("// TODO: later on".match(words)).toBeNull();
    expect("// TODO:\n// next line".match(words)).not.toBeNull();
    expect(findAll([...sources, ...guest], words)).toEqual([]);
  });
});

describe("tests", () => {
  it("all run: none is left out and none runs alone", () => {
    const left = /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo)\b/g;
    expect(["it", "only"].join(".").match(left)).not.toBeNull();
    expect(findAll(tests, left)).toEqual([]);
  });
});

describe("guarantees", () => {
  /** Ids of the table's rows. Read in each test, so that a missing page is a clear failure and not a file that cannot load. */
  function guaranteeIds(): string[] {
    expect(files, `${GUARANTEES} is missing`).toContain(GUARANTEES);
    const ids = [...readProjectFile(GUARANTEES).matchAll(/^\| (G-\d{2,}) \|/gm)].map((match) => match[1] ?? "");
    expect(ids.length, `${GUARANTEES} has no row that begins with "| G-01 |"`).toBeGreaterThan(0);
    return ids;
  }

  /** The rest of the comment that a remark is in, over several lines where it goes on. */
  function remarkAt(text: string, index: number): string {
    const [first = "", ...rest] = text.slice(index).split("\n");
    const end = rest.findIndex((line) => !/^\s*(\/\/|\*(?!\/))/.test(line) && !/^\s+\S.*\*\//.test(line));
    const lines = first.includes("*/") ? [first] : [first, ...rest.slice(0, end === -1 ? undefined : end)];
    return lines.join(" ");
  }

  it("have ids that are used once", () => {
    const ids = guaranteeIds();
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("are named by every SECURITY remark", () => {
    const known = new Set(guaranteeIds());
    const problems = shipped.flatMap((file) =>
      [...textOf(file).matchAll(/SECURITY:/g)].flatMap(({ index }) => {
        const named = /\((G-\d{2,}(?:, G-\d{2,})*)\)/.exec(remarkAt(textOf(file), index))?.[1]?.split(", ") ?? [];
        if (named.length === 0) return [`${placeOf(file, textOf(file), index)} names no guarantee`];
        const unknown = named.filter((id) => !known.has(id));
        return unknown.length > 0 ? [`${placeOf(file, textOf(file), index)} names ${unknown.join(", ")}`] : [];
      }),
    );
    expect(problems).toEqual([]);
  });

  it("are each named in the title of a test", () => {
    const ids = guaranteeIds();
    const others = tests.filter((file) => !file.startsWith("test/repo/") && /G-\d/.test(textOf(file)));
    const claimed = new Set(
      others.flatMap((file) => findStrings(file, textOf(file)).flatMap((text) => text.match(/G-\d{2,}/g) ?? [])),
    );
    expect(
      ids.filter((id) => !claimed.has(id)),
      "guarantees that no test names",
    ).toEqual([]);
    expect(
      [...claimed].filter((id) => !ids.includes(id)),
      "ids in tests that are in no row",
    ).toEqual([]);
  });

  it("are looked for in remarks of one and of several lines", () => {
    expect(remarkAt("// SECURITY: a (G-01)\nconst b = 1; // (G-02)", 3)).toBe("SECURITY: a (G-01)");
    expect(remarkAt("/* SECURITY: a\n   b (G-01) */\nint c; /* (G-02) */", 3)).toContain("(G-01)");
    expect(remarkAt("/**\n * SECURITY: a\n * b (G-03).\n */\nint c;", 7)).toContain("(G-03)");
    expect(remarkAt("  // SECURITY: a\n  // b (G-04)\n  c(); // (G-05)", 5)).not.toContain("(G-05)");
  });
});
