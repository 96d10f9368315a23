import { describe, expect, it } from "vitest";
import { ClocheError } from "../base/errors.ts";
import { toByteText } from "./byte-text.ts";
import type { FilePatch } from "./file-patch.ts";
import { parsePatch } from "./parse-patch.ts";

const HUNK = "@@ -1 +1 @@\n-a\n+b\n";
const one = (patch: string): FilePatch => {
  const files = parsePatch(patch);
  expect(files).toHaveLength(1);
  return files[0]!;
};
const body = (file: FilePatch) => file.hunks.flatMap(({ lines }) => lines.map(({ mark, text }) => mark + text));

function refusal(patch: string): { code: string; message: string } {
  try {
    parsePatch(patch);
  } catch (error) {
    if (error instanceof ClocheError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("it was taken");
}

describe("the names of a patch", () => {
  it.each([
    ["--- a/x\n+++ b/x\n", "x"],
    ["--- x\n+++ x\n", "x"],
    ["--- a/x\n+++ a/x\n", "a/x"],
    ["--- b/x\n+++ a/x\n", "x"],
    ["--- ./x\n+++ ./x\n", "x"],
    ["--- /workspace/d/x\n+++ /workspace/d/x\n", "d/x"],
    ["--- old/d/x\n+++ new/d/x\n", "d/x"],
    ["--- x.orig\t2024-05-06 07:08:09.1 +0200\n+++ x\t2024-05-06 07:08:09.2 +0200\n", "x"],
    ["--- a/with blanks \t\n+++ b/with blanks \t\n", "with blanks "],
    ['--- "a/\\303\\244\\t\\n\\"\\\\"\n+++ "b/\\303\\244\\t\\n\\"\\\\"\n', 'ä\t\n"\\'],
    ["diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n", "x"],
    ["diff --git a/x a/x\n--- a/x\n+++ a/x\n", "a/x"],
    ["diff --git i/x w/x\n--- i/x\n+++ w/x\n", "x"],
    ["diff --git a/x b/x b/x b/x\n--- a/x b/x\t\n+++ b/x b/x\t\n", "x b/x"],
  ])("%j mean %j", (header, path) => {
    expect(one(header + HUNK)).toMatchObject({ kind: "modify", path: toByteText(path), oldPath: toByteText(path) });
  });

  it.each([
    ["--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "add"],
    ["--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "delete"],
    ["--- a/x\t1970-01-01 01:00:00.000000000 +0100\n+++ b/x\t2024-05-06 07:08:09 +0200\n@@ -0,0 +1 @@\n+a\n", "add"],
    ["--- a/x\t2024-05-06 07:08:09 +0200\n+++ b/x\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-a\n", "delete"],
    ["diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n", "add"],
    ["diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", "delete"],
    ["diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "modify"],
  ])("%j is one to %s", (patch, kind) => {
    expect(one(patch)).toMatchObject({ kind, path: "x" });
  });

  it("of renames and copies are those of their own lines", () => {
    const moved = (kind: string) =>
      one(`diff --git a/a/x b/b/y z\nsimilarity index 100%\n${kind} from a/x\n${kind} to "b/y \\303\\244"\n`);
    expect(moved("rename")).toMatchObject({ kind: "rename", oldPath: "a/x", path: toByteText("b/y ä"), hunks: [] });
    expect(moved("copy")).toMatchObject({ kind: "copy", oldPath: "a/x", path: toByteText("b/y ä"), hunks: [] });
  });

  it.each([
    "--- a/../x\n+++ b/../x\n",
    "--- /etc/passwd\n+++ /etc/passwd\n",
    "--- a//etc/passwd\n+++ b//etc/passwd\n",
    "--- /workspacex/y\n+++ /workspacex/y\n",
    "--- /workspace/../x\n+++ /workspace/../x\n",
    "--- x/../y\n+++ x/../y\n",
    '--- "a/\\056\\056/x"\n+++ "b/\\056\\056/x"\n',
    "diff --git a/x b/../y\nrename from x\nrename to ../y\n--- a/x\n+++ b/../y\n",
    "diff --git a/x b/y\ncopy from /etc/shadow\ncopy to y\n--- a/x\n+++ b/y\n",
  ])("%j leave the workspace", (header) => {
    expect(refusal(header + HUNK).code).toBe("PATH_OUTSIDE_WORKSPACE");
  });
});

describe("the modes of a patch", () => {
  it.each([
    ["old mode 100644\nnew mode 100755", "100644", "100755"],
    ["new file mode 120000", undefined, "120000"],
    ["deleted file mode 100755", "100755", undefined],
    ["index 1234567..89abcde 120000", "120000", "120000"],
    ["old mode 100664\nnew mode 100775", "100644", "100755"],
  ])("%j", (lines, oldMode, newMode) => {
    expect(one(`diff --git a/x b/x\n${lines}\n`)).toMatchObject({ oldMode, newMode });
  });
});

describe("the lines of a patch", () => {
  it("are passed over where they belong to no file", () => {
    const mail =
      "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] --- not a file\n\n---\n x | 2 +-\n 1 file changed\n\n" +
      `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n${HUNK}-- \n2.39.5\n\n` +
      `Only in old: y\ndiff -u old/z new/z\n--- old/z\n+++ new/z\n${HUNK}\n-- \n2.39.5\n`;
    expect(parsePatch(mail).map(({ path }) => path)).toEqual(["x", "z"]);
  });

  it("may look like headers within a hunk", () => {
    const file = one("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-diff --git\n+++ b/y\n+@@ -1 +1 @@\n");
    expect(body(file)).toEqual(["--- a/y\n", "-diff --git\n", "+++ b/y\n", "+@@ -1 +1 @@\n"]);
  });

  it.each([
    ["-a\n\\ No newline at end of file\n+b\n", ["-a", "+b\n"]],
    ["-a\n+b\n\\ No newline at end of file\n", ["-a\n", "+b"]],
    ["-a\n\\ No newline at end of file\n+b\n\\ Kein Zeilenumbruch am Dateiende.\n", ["-a", "+b"]],
  ])("%j are without a newline where it says so", (lines, expected) => {
    expect(body(one(`--- a/x\n+++ b/x\n@@ -1 +1 @@\n${lines}`))).toEqual(expected);
  });

  it("of context may be without a newline, and an empty one without its blank", () => {
    const file = one("--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n-a\n\n c\n\\ No newline at end of file\n");
    expect(body(file)).toEqual(["-a\n", " \n", " c"]);
  });

  it("are complete without the newline at the end of the patch", () => {
    expect(body(one("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"))).toEqual(["-a\n", "+b\n"]);
  });

  it("that end with CRLF have it of the patch or of the file", () => {
    const file = one("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n b\n\\ No newline\n".replaceAll("\n", "\r\n"));
    expect(file.path).toBe("x");
    expect(body(file)).toEqual(["-a\n", " b"]);
    expect(body({ ...file, hunks: file.crlfHunks! })).toEqual(["-a\r\n", " b"]);
    const content = one("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n");
    expect(body(content)).toEqual(["-a\r\n", "+b\r\n"]);
    expect(content.crlfHunks).toBeUndefined();
  });
});

describe("parsePatch() refuses", () => {
  const at = (line: number, rest: string) => `Line ${line} of the patch: ${rest}`;
  const head = "--- a/x\n+++ b/x\n";
  it.each([
    ["no file", "this is no patch\n", "The patch names no file"],
    ["a hunk without a file", HUNK, at(1, "a hunk comes before the --- and +++ lines of its file")],
    [
      "a file without a hunk",
      head,
      at(3, 'a hunk header such as "@@ -1,3 +1,4 @@" must be here for "x", but the patch ends'),
    ],
    [
      "a hunk without numbers",
      `${head}@@ def f():\n-a\n+b\n`,
      at(3, 'a hunk header such as "@@ -1,3 +1,4 @@" must be here for "x", but "@@ def f():" is none'),
    ],
    ["a hunk that is short", `${head}@@ -1,2 +1 @@\n-a\n+b\n`, at(6, short("@@ -1,2 +1 @@", "fewer lines than"))],
    [
      "a hunk that is short before the next file",
      `${head}@@ -1,2 +1,2 @@\n-a\n+b\ndiff --git a/y b/y\n`,
      at(6, short("@@ -1,2 +1,2 @@", "fewer lines than")),
    ],
    ["a hunk that is long", `${head}${HUNK}+c\n`, at(6, short("@@ -1 +1 @@", "more lines than"))],
    ["a hunk that is long after a gap", `${head}${HUNK}\n c\n`, at(6, short("@@ -1 +1 @@", "more lines than"))],
    [
      "a hunk of other lines than it says",
      `${head}@@ -1 +1,2 @@\n-a\n-b\n+c\n`,
      at(5, 'the hunk "@@ -1 +1,2 @@" of "x" does not have the lines that its header says'),
    ],
    [
      "a missing newline in the middle",
      `${head}@@ -1,2 +1 @@\n-a\n\\ No newline\n-b\n+c\n`,
      at(8, 'the hunk "@@ -1,2 +1 @@" of "x" has a line without a newline that is not the last'),
    ],
    [
      "a missing newline of nothing",
      `${head}@@ -1 +1 @@\n\\ No newline\n-a\n+b\n`,
      at(4, 'no line comes before the mark of a missing newline in the hunk "@@ -1 +1 @@" of "x"'),
    ],
    [
      "binary content",
      "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo\n",
      at(3, '"x" is binary'),
    ],
    [
      "binary content that is only told",
      "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
      at(3, '"x" is binary'),
    ],
    ["binary content of diff -r", "Binary files old/x and new/x differ\n", at(1, '"old/x and new/x" are binary')],
    ["a merge", "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n", at(1, '"x" is a merge of several versions')],
    [
      "a submodule",
      "diff --git a/x b/x\nnew file mode 160000\n",
      at(3, '"x" is a submodule, and neither a file nor a symlink'),
    ],
    ["two files in one", `--- a/x\n+++ b/y\n${HUNK}`, at(3, '"a/x" and "b/y" are two files')],
    ["no file in one", `--- /dev/null\n+++ /dev/null\n${HUNK}`, at(3, "both sides of a file are /dev/null")],
    [
      "a git header of another file",
      `diff --git a/x b/x\n--- a/y\n+++ b/y\n${HUNK}`,
      at(4, '"a/y" is not the file of "a/x b/x"'),
    ],
    ["half a rename", "diff --git a/x b/y\nrename from x\n", at(3, "a rename says only one of its two paths")],
    ["a folder", `--- a/x/\n+++ b/x/\n${HUNK}`, 'The patch has a path that names no file: "x/"'],
    ["a NUL", `--- "a/x\\000"\n+++ "b/x\\000"\n${HUNK}`, 'The patch has a path that names no file: "x\\u0000"'],
  ])("%s", (_, patch, message) => {
    expect(refusal(patch)).toEqual({ code: "PATCH_INVALID", message });
  });

  function short(header: string, how: string): string {
    return `the hunk "${header}" of "x" has ${how} its header says`;
  }
});
