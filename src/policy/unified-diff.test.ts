import { execFileSync } from "node:child_process";
import fc from "fast-check";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpuTime } from "../../test/helpers/cpu-time.ts";
import { gitModeOf, isBinary, textOf, unifiedDiff, type FileVersions } from "./unified-diff.ts";

let base: string;
beforeAll(() => (base = fs.mkdtempSync(join(tmpdir(), "cloche-diff-"))));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const plain = { path: "f", oldMode: "100644", newMode: "100644" } as const;

function apply(patch: string): void {
  execFileSync("git", ["apply", "--whitespace=nowarn"], { cwd: base, input: patch, stdio: ["pipe", "pipe", "pipe"] });
}

/** Applies the patch of `file` to a folder that has its old version, and returns what is there then. */
function roundTrip(file: FileVersions): Record<string, string> {
  fs.rmSync(base, { recursive: true });
  fs.mkdirSync(base);
  const oldPath = Buffer.from((file.oldPath ?? file.path) as string);
  const target = Buffer.concat([Buffer.from(`${base}/`), oldPath]);
  if (file.oldText !== null) {
    if (file.oldMode === "120000") fs.symlinkSync(file.oldText, target);
    else fs.writeFileSync(target, file.oldText, { mode: file.oldMode === "100755" ? 0o755 : 0o644 });
  }
  const patch = unifiedDiff(file);
  if (patch !== "") apply(patch);
  return Object.fromEntries(
    fs.readdirSync(base, { encoding: "buffer" }).map((name) => {
      const path = Buffer.concat([Buffer.from(`${base}/`), name]);
      const stat = fs.lstatSync(path);
      const content = stat.isSymbolicLink() ? `-> ${fs.readlinkSync(path)}` : fs.readFileSync(path, "utf8");
      return [name.toString("latin1"), (stat.mode & 0o100) !== 0 ? `x ${content}` : content];
    }),
  );
}

describe("unifiedDiff()", () => {
  it("writes what git writes", () => {
    const oldText = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("");
    const newText = oldText
      .replace("line 5\n", "five\n")
      .replace("line 9\n", "")
      .replace("line 25\n", "line 25\nmore\n");
    fs.writeFileSync(join(base, "old"), oldText);
    fs.writeFileSync(join(base, "new"), newText);
    let git = "";
    try {
      execFileSync("git", ["diff", "--no-index", "--no-color", "old", "new"], { cwd: base, encoding: "utf8" });
    } catch (error) {
      git = (error as { stdout: string }).stdout;
    }
    const hunks = (patch: string) => patch.slice(patch.indexOf("@@")).replaceAll(/^(@@.*@@).*$/gm, "$1");
    expect(hunks(unifiedDiff({ ...plain, oldText, newText }))).toBe(hunks(git));
  });

  it("is empty when nothing differs", () => {
    expect(unifiedDiff({ ...plain, oldText: "a\n", newText: "a\n" })).toBe("");
    expect(unifiedDiff({ ...plain, oldText: null, newText: null })).toBe("");
  });

  it("gives a patch that git applies, for any two texts", () => {
    const line = fc.constantFrom("a", "b", "", "c d", "\r", "-- x", "+++ y", "@@ -1 +1 @@", "ü", "\\ No newline", " ");
    const end = fc.constantFrom("\n", "\r\n");
    const text = fc
      .tuple(fc.array(fc.tuple(line, end), { maxLength: 25 }), fc.option(line))
      .map(([lines, last]) => lines.flat().join("") + (last ?? ""));
    const side = fc.option(text, { freq: 8 });
    fc.assert(
      fc.property(side, side, (oldText, newText) => {
        const found = roundTrip({ ...plain, oldText, newText });
        expect(found).toEqual(newText === null ? {} : { f: newText });
      }),
      { numRuns: 150 },
    );
  });

  it.each<[string, FileVersions, Record<string, string>]>([
    ["a new empty file", { ...plain, oldText: null, newText: "" }, { f: "" }],
    ["a removed empty file", { ...plain, oldText: "", newText: null }, {}],
    ["a new program", { ...plain, newMode: "100755", oldText: null, newText: "#!\n" }, { f: "x #!\n" }],
    ["a changed mode", { ...plain, newMode: "100755", oldText: "a\n", newText: "a\n" }, { f: "x a\n" }],
    ["a changed mode and text", { ...plain, oldMode: "100755", oldText: "a\n", newText: "b\n" }, { f: "b\n" }],
    ["a rename", { ...plain, path: "g", oldPath: "f", oldText: "a\n", newText: "a\n" }, { g: "a\n" }],
    [
      "a rename with a change",
      { ...plain, path: "g", oldPath: "f", oldText: "a\nb\n", newText: "a\nc\n" },
      { g: "a\nc\n" },
    ],
    ["a rename of blanks", { ...plain, path: "g h", oldPath: "f  f", oldText: "a", newText: "b" }, { "g h": "b" }],
    ["a link", { ...plain, newMode: "120000", oldText: null, newText: "to" }, { f: "x -> to" }],
    [
      "a changed link",
      { ...plain, oldMode: "120000", newMode: "120000", oldText: "to", newText: "on" },
      { f: "x -> on" },
    ],
    ["a file that became a link", { ...plain, newMode: "120000", oldText: "a\n", newText: "to" }, { f: "x -> to" }],
    ["a link that became a file", { ...plain, oldMode: "120000", oldText: "to", newText: "a\n" }, { f: "a\n" }],
    ["a name with blanks", { ...plain, path: " a b ", oldText: "a\n", newText: "b\n" }, { " a b ": "b\n" }],
    ["a name with quotes", { ...plain, path: 'q"\\', oldText: "a\n", newText: "b\n" }, { 'q"\\': "b\n" }],
    [
      "a name with control characters",
      { ...plain, path: "\n\t\x01\x7f", oldText: null, newText: "b\n" },
      { "\n\t\x01\x7f": "b\n" },
    ],
    [
      "a name that is no UTF-8",
      { ...plain, path: Buffer.from([0xff]), oldText: "a\n", newText: "b\n" },
      { "\xff": "b\n" },
    ],
    ["a name of other letters", { ...plain, path: "ü", oldText: "a\n", newText: "b\n" }, { "\xc3\xbc": "b\n" }],
  ])("gives a patch that git applies, for %s", (_, file, expected) => {
    expect(roundTrip(file)).toEqual(expected);
  });

  it("stays quick when two large files have nothing in common", async () => {
    const text = (word: string) => Array.from({ length: 100_000 }, (_, index) => `${word} ${index}\n`).join("");
    let patch = "";
    const diff = () => (patch = unifiedDiff({ ...plain, oldText: text("old"), newText: text("new") }));
    expect(await cpuTime(diff)).toBeLessThan(3000);
    expect(patch).toContain("@@ -1,100000 +1,100000 @@");
  });
});

describe("what can be shown", () => {
  it("knows binary content as git does, and text by its bytes", () => {
    expect(isBinary(Buffer.from("a\0b"))).toBe(true);
    expect(isBinary(Buffer.concat([Buffer.alloc(8000, "a"), Buffer.from([0])]))).toBe(false);
    expect(textOf(Buffer.from("ü\n"))).toBe("ü\n");
    expect(textOf(Buffer.from([0xff, 0x0a]))).toBeUndefined();
    expect(textOf(Buffer.from([0]))).toBeUndefined();
  });

  it("reduces modes to those that git knows", () => {
    expect(gitModeOf("file", 0o600)).toBe("100644");
    expect(gitModeOf("file", 0o711)).toBe("100755");
    expect(gitModeOf("symlink", 0o777)).toBe("120000");
  });
});
