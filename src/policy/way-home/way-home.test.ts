import { describe, expect, it } from "vitest";
import { toByteText } from "../byte-text.ts";
import { bringHome, countLines, type HomeState } from "./bring-home.ts";
import { leadsIntoGit } from "./git-names.ts";
import { actsByItself } from "./look-first.ts";

const file = (text: string, isExecutable = false): HomeState => ({
  type: "file",
  isExecutable,
  content: Buffer.from(text),
});
const link = (target: string): HomeState => ({ type: "symlink", isExecutable: false, content: Buffer.from(target) });
const lines = (...words: string[]) => words.map((word) => `${word}\n`).join("");

describe("bringHome()", () => {
  const bring = (before: HomeState | undefined, after: HomeState | undefined, host: HomeState | undefined) =>
    bringHome({ path: "f", before, after }, host);

  it("gives a host that has not gone on what the sandbox has", () => {
    expect(bring(file("a"), file("b"), file("a"))).toEqual({ kind: "applies", state: file("b") });
    expect(bring(undefined, file("b"), undefined)).toEqual({ kind: "applies", state: file("b") });
    expect(bring(file("a"), undefined, file("a"))).toEqual({ kind: "applies", state: undefined });
    expect(bring(file("a"), file("a", true), file("a"))).toEqual({ kind: "applies", state: file("a", true) });
    expect(bring(file("a"), link("x"), file("a"))).toEqual({ kind: "applies", state: link("x") });
  });

  it("leaves alone what the host has already", () => {
    expect(bring(file("a"), file("b"), file("b"))).toEqual({ kind: "there" });
    expect(bring(file("a"), undefined, undefined)).toEqual({ kind: "there" });
  });

  it("merges lines that fit, and nothing else", () => {
    const before = file(lines("1", "2", "3", "4", "5", "6", "7", "8", "9"));
    const after = file(lines("1", "2", "3", "4", "5", "6", "7", "8", "nine"), true);
    const host = file(lines("one", "2", "3", "4", "5", "6", "7", "8", "9"));
    const merged = file(lines("one", "2", "3", "4", "5", "6", "7", "8", "nine"), true);
    expect(bring(before, after, host)).toEqual({ kind: "merges", state: merged });
    const same = file(after.content.toString());
    expect(bring(before, same, { ...merged, isExecutable: false })).toEqual({ kind: "there" });
    const both = file(lines("1", "2", "3", "4", "5", "6", "7", "8", "neun"));
    for (const [was, is, has] of [
      [before, after, both],
      [before, after, undefined],
      [before, undefined, both],
      [undefined, after, both],
      [file("a\0"), file("b\0"), file("c\0")],
      [link("a"), link("b"), link("c")],
    ] as const)
      expect(bring(was, is, has)).toMatchObject({ kind: "conflicts" });
  });

  it("counts lines", () => {
    expect(countLines({ path: "f", before: file("a\nb\n"), after: file("a\nc\nd\n") })).toEqual({
      added: 2,
      removed: 1,
    });
    expect(countLines({ path: "f", before: undefined, after: file("\0") })).toBeNull();
  });
});

describe("leadsIntoGit()", () => {
  it("G-79 knows git's own folder under every name that a file system takes for it", () => {
    const names = [".git", ".GIT", ".git ", ".git.", ".g\u200cit", "git~1", "GIT~2", ".git::$INDEX_ALLOCATION"];
    for (const name of names)
      for (const path of [name, `${name}/config`, `sub/${name}/hooks/pre-commit`, `sub\\${name}\\config`])
        expect([path, leadsIntoGit(toByteText(path))]).toEqual([path, true]);
    for (const path of [".gitignore", ".gitattributes", "git", "a.git", ".github/x", "agit~1"])
      expect([path, leadsIntoGit(toByteText(path))]).toEqual([path, false]);
  });
});

describe("actsByItself()", () => {
  it("G-186: knows a link by the name of a folder that tools obey, and the folders of all agents that cloche knows", () => {
    for (const name of [".vscode", ".husky", ".claude", ".codex", ".gemini", ".opencode", ".cargo", ".hg", ".yarn"])
      expect([name, actsByItself(name), actsByItself(`packages/a/${name}`)]).toEqual([name, true, true]);
    for (const path of [".github", ".forgejo", ".gitea/workflows/x.yml", "opencode.json", ".opencode/plugin/x.ts"])
      expect([path, actsByItself(path)]).toEqual([path, true]);
    for (const path of ["vscode", "a.vscode", "packages/.github", ".yarn/cache/x.zip", "opencode.json.md"])
      expect([path, actsByItself(path)]).toEqual([path, false]);
  });

  it("knows what tools obey without being asked", () => {
    const obeyed = [
      ...[
        ".envrc",
        "a/.envrc",
        ".vscode/tasks.json",
        ".VSCODE/tasks.json",
        ".github/workflows/x.yml",
        "a/.gitattributes",
      ],
      ...[".hg/hgrc", ".cargo/config.toml", "mise.toml", ".mise.toml", ".mvn/extensions.xml", ".pnpmfile.cjs"],
      ...["CLAUDE.md", "a/AGENTS.md", "package.json", "a/package.json"],
    ];
    for (const path of obeyed) expect([path, actsByItself(path)]).toEqual([path, true]);
    for (const path of ["README.md", "src/envrc", "github/x", "my-package.json", "package.json.md", "mise.md"])
      expect([path, actsByItself(path)]).toEqual([path, false]);
  });
});
