import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { IgnoreRules } from "./ignore-rules.ts";

const made: string[] = [];
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

const covers = (text: string, path: string, isFolder = false): boolean =>
  new IgnoreRules({ files: [{ folder: "", text }], repositories: [] }).matcher().covers(path, isFolder);

describe("IgnoreRules", () => {
  it("decides as git does for random rules and paths", () => {
    const piece = fc.constantFrom(
      ...Array.from("aab/**?.-![]^\\ #:\u00e9"),
      "/**",
      "**/",
      "[ab]",
      "[!a]",
      "[[:alpha:]]",
      "[a-",
      "\r",
    );
    const line = fc.array(piece, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(""));
    const usual = fc.constantFrom(
      "a",
      "b/",
      "/a",
      "*.b",
      "!a",
      "!b/",
      "a/b",
      "**/a",
      "a/**",
      "a/**/b",
      "!/b/a",
      "*",
      "!*/",
    );
    const file = fc.array(fc.oneof(line, usual), { maxLength: 6 }).map((lines) => lines.join("\n"));
    const name = fc.constantFrom("a", "b", "ab", "a.b", "-a", "\u00e9", "a b", "!a", "[", "#");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const rules = fc.record({
      root: file,
      inA: file,
      inBA: file,
      exclude: file,
      user: file,
      paths: fc.uniqueArray(path, { minLength: 1, maxLength: 25 }),
    });
    fc.assert(
      fc.property(rules, ({ root, inA, inBA, exclude, user, paths }) => {
        const top = repository({
          ".gitignore": root,
          "a/.gitignore": inA,
          "b/a/.gitignore": inBA,
          ".git/info/exclude": exclude,
        });
        writeFileSync(join(top, ".git/user"), user, "latin1");
        const own = new IgnoreRules({
          files: [
            { folder: "", text: root },
            { folder: "a", text: inA },
            { folder: "b/a", text: inBA },
          ],
          repositories: [
            {
              path: "",
              lists: [
                { prefix: "", text: exclude },
                { prefix: "", text: user },
              ],
            },
          ],
        }).matcher();
        // Of a name that nothing has, git thinks as of a file's.
        const asFiles = ignoredByGit(top, paths);
        const isMade = (one: string) => existsSync(join(top, Buffer.from(one, "latin1").toString("utf8")));
        const files = paths.filter((one) => !isMade(one));
        expect(files.filter((one) => own.covers(one, false))).toEqual(files.filter((one) => asFiles.has(one)));
        for (const one of paths) mkdirSync(Buffer.from(`${top}/${one}`, "latin1"), { recursive: true });
        const asFolders = ignoredByGit(top, paths);
        rmSync(top, { recursive: true });
        expect(paths.filter((one) => own.covers(one, true))).toEqual(paths.filter((one) => asFolders.has(one)));
      }),
      { numRuns: Number(process.env["CLOCHE_TEST_RUNS"] ?? 30) },
    );
  });

  it("keeps the rules of a repository within it", () => {
    const rules = new IgnoreRules({
      files: [
        { folder: "", text: "*.log" },
        { folder: "inner", text: "out/" },
      ],
      repositories: [{ path: "inner", lists: [{ prefix: "", text: "*.tmp" }] }],
    }).matcher();
    expect(rules.covers("a.log", false)).toBe(true);
    expect(rules.covers("inner/a.log", false)).toBe(false);
    expect(rules.covers("inner/out/x", false)).toBe(true);
    expect(rules.covers("inner/a.tmp", false)).toBe(true);
    expect(rules.covers("a.tmp", false)).toBe(false);
  });

  it("reads rules of a folder above the project from where they are meant", () => {
    const lists = [{ prefix: "packages/web/", text: "/packages/web/dist\n/dist2" }];
    const rules = new IgnoreRules({ files: [], repositories: [{ path: "", lists }] }).matcher();
    expect(rules.covers("dist", true)).toBe(true);
    expect(rules.covers("dist/a/b.js", false)).toBe(true);
    expect(rules.covers("dist2", true)).toBe(false);
  });

  it("answers at once what would take a regular expression for ever (G-31)", () => {
    const pattern = `${"*a".repeat(60)}b`;
    const started = process.cpuUsage().user;
    for (let one = 0; one < 200; one += 1) expect(covers(pattern, "a".repeat(250))).toBe(false);
    expect(covers(pattern, `${"a".repeat(249)}b`)).toBe(true);
    // Not a measure: backtracking would not be done before the sun has gone out.
    expect(process.cpuUsage().user - started).toBeLessThan(60_000_000);
  });

  it("covers nothing more when the work is too much, and never less than all of too many rules (G-31)", () => {
    const slow = new IgnoreRules({
      files: [{ folder: "", text: `*.log\n${`x/${"*a".repeat(200)}b\n`.repeat(100)}` }],
      repositories: [],
    }).matcher();
    expect(slow.covers("first.log", false)).toBe(true);
    const found = Array.from({ length: 100 }, (_, index) => slow.covers(`x/${"a".repeat(200)}${index}.log`, false));
    expect(found.at(-1)).toBe(false);
    expect(covers(`*\n${"!x\n".repeat(30_000)}`, "a")).toBe(false);
  });
});

function repository(files: Record<string, string>): string {
  const top = mkdtempSync(join(tmpdir(), "cloche-ignore-"));
  made.push(top);
  for (const folder of [".git/objects", ".git/refs", ".git/info"]) mkdirSync(join(top, folder), { recursive: true });
  writeFileSync(join(top, ".git/HEAD"), "ref: refs/heads/main\n");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text, "latin1");
  }
  return top;
}

function ignoredByGit(top: string, paths: readonly string[]): Set<string> {
  const { stdout, status, stderr } = spawnSync(
    "git",
    ["-c", "core.excludesFile=.git/user", "check-ignore", "-z", "--stdin", "--no-index"],
    {
      cwd: top,
      input: Buffer.from(paths.map((one) => `./${one}`).join("\0"), "latin1"),
      env: { ...process.env, GIT_CONFIG_NOSYSTEM: "1" },
    },
  );
  if (status !== 0 && status !== 1) throw new Error(stderr.toString());
  return new Set(
    stdout
      .toString("latin1")
      .split("\0")
      .map((one) => one.replace(/^\.\//, "")),
  );
}
