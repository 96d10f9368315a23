import { describe, expect, it } from "vitest";
import { ClocheError } from "../base/errors.ts";
import { toByteText } from "./byte-text.ts";
import { parsePatch } from "./parse-patch.ts";
import { patchTree, type FileState } from "./patch-tree.ts";

type Given = Record<string, string | FileState>;
const FIRST = "--- a/x\n+++ b/x\n";

function run(patch: string, given: Given) {
  const before = new Map(
    Object.entries(given).map(([path, state]): [string, FileState] => [
      toByteText(path),
      typeof state === "string" ? { type: "file", mode: 0o644, content: toByteText(state) } : state,
    ]),
  );
  return patchTree(parsePatch(patch), before);
}

/** The content of `x` after a patch of it. */
const applied = (hunks: string, content: string) => {
  const { states } = run(FIRST + hunks, { x: content });
  return states.has("x") ? states.get("x")?.content : toByteText(content);
};

function refusal(patch: string, given: Given) {
  try {
    run(patch, given);
  } catch (error) {
    if (error instanceof ClocheError) return { code: error.code, message: error.message, details: error.details };
    throw error;
  }
  throw new Error("it applied");
}

describe("a hunk", () => {
  it("applies at its line, though its lines are elsewhere too", () => {
    expect(applied("@@ -2 +2 @@\n-a\n+b\n", "a\na\na\n")).toBe("a\nb\na\n");
  });

  it("applies at another line when its lines are only there", () => {
    expect(applied("@@ -1,2 +1,2 @@\n f\n-g\n+G\n", "a\nb\nf\ng\nh\n")).toBe("a\nb\nf\nG\nh\n");
  });

  it("is searched behind the hunk before it only", () => {
    const hunks = "@@ -2 +2 @@\n-x\n+y\n@@ -5 +5 @@\n-a\n+b\n";
    expect(applied(hunks, "a\nx\nc\na\n")).toBe("a\ny\nc\nb\n");
  });

  it("without context applies at its stated line, and at the end", () => {
    expect(applied("@@ -1,0 +2 @@\n+b\n", "a\nc\n")).toBe("a\nb\nc\n");
    expect(applied("@@ -2,0 +3 @@\n+b\n", "a\nc\n")).toBe("a\nc\nb\n");
    expect(applied("@@ -0,0 +1 @@\n+b\n", "")).toBe("b\n");
  });

  it("keeps bytes that are no UTF-8 and carriage returns around it", () => {
    const content = Buffer.from([0xff, 0x0a, 0x61, 0x0d, 0x0a, 0xc3, 0xa4, 0x0a, 0xfe, 0x00]).toString("latin1");
    const state: FileState = { type: "file", mode: 0o600, content };
    const { states } = run(`${FIRST}@@ -2,2 +2,2 @@\n a\r\n-ä\n+ö\n`, { x: state });
    expect(states.get("x")).toEqual({ ...state, content: content.replace("\xc3\xa4", "\xc3\xb6") });
  });

  it("of a patch with CRLF lines applies to a file with either ending", () => {
    const hunks = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n";
    const crlf = (FIRST + hunks).replaceAll("\n", "\r\n");
    expect(run(crlf, { x: "a\nb\n" }).states.get("x")?.content).toBe("A\nb\n");
    expect(run(crlf, { x: "a\r\nb\r\n" }).states.get("x")?.content).toBe("A\r\nb\r\n");
  });

  it.each([
    ["-a\n\\ No newline\n+a\n", "a", "a\n"],
    ["-a\n+a\n\\ No newline\n", "a\n", "a"],
    ["-a\n\\ No newline\n+b\n\\ No newline\n", "a", "b"],
  ])("%j changes the end of the file", (lines, before, after) => {
    expect(applied(`@@ -1 +1 @@\n${lines}`, before)).toBe(after);
  });
});

describe("a hunk that does not fit is refused", () => {
  const rejected = (hunks: string, content: string) => {
    const { code, message, details } = refusal(FIRST + hunks, { x: content });
    expect(code).toBe("PATCH_REJECTED");
    expect(details).toMatchObject({ file: "/workspace/x", hunk: expect.stringMatching(/^@@ .* @@$/) as string });
    return message;
  };

  it("with the first lines that differ", () => {
    const patch = `${FIRST}@@ -2,3 +2,3 @@ context\n b\n-c\n+C\n d\n`;
    expect(refusal(patch, { x: "a\nb\nX\nd\n" })).toEqual({
      code: "PATCH_REJECTED",
      message: 'Cannot patch "x": hunk "@@ -2,3 +2,3 @@" does not apply at line 3: expected "c", found "X"',
      details: { file: "/workspace/x", hunk: "@@ -2,3 +2,3 @@", expected: "c", found: "X" },
    });
  });

  it.each([
    ["@@ -3 +3 @@\n-c\n+C\n", "a\n", 'does not apply at line 3: expected "c", found the end of the file'],
    [
      "@@ -1 +1 @@\n-a\n+b\n",
      "x\na\na\n",
      'does not apply at line 1: expected "a", found "x"; its lines are at more than one other place',
    ],
    [
      "@@ -1 +1 @@\n-a\n\\ No newline\n+b\n",
      "a\n",
      'does not apply at line 1: expected "a" without a newline, found "a" with a newline',
    ],
    ["@@ -1 +1 @@\n-a\n+b\n", "a\r\n", 'does not apply at line 1: expected "a", found "a\\r"'],
    [
      "@@ -1 +1 @@\n-a\n+b\n",
      `${"é".repeat(200)}\n`,
      `does not apply at line 1: expected "a", found "${"é".repeat(120)}…"`,
    ],
    ["@@ -5,0 +6 @@\n+b\n", "a\n", "is behind the end of the file, which has 1 lines"],
    [
      "@@ -1 +1 @@\n-a\n+b\n\\ No newline\n",
      "a\nc\n",
      'joins a line without a newline to the next: expected the end of the file, found "c"',
    ],
    ["@@ -1,0 +2 @@\n+b\n", "a", 'joins a line without a newline to the next: expected the end of the file, found "b"'],
  ])("%j on %j", (hunks, content, reason) => {
    const header = hunks.split("\n")[0]!;
    expect(rejected(hunks, content)).toBe(`Cannot patch "x": hunk "${header}" ${reason}`);
  });

  it("when it overlaps the one before it", () => {
    expect(rejected("@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -2 +2 @@\n-b\n+C\n", "a\nb\n")).toBe(
      'Cannot patch "x": hunk "@@ -2 +2 @@" overlaps the one before it',
    );
  });

  it("when it relies on its line number after one that was found elsewhere", () => {
    const shifted = "@@ -1 +1 @@\n-a\n+A\n";
    expect(rejected(`${shifted}@@ -3 +3 @@\n-c\n+C\n`, "x\na\nc\nc\n")).toBe(
      'Cannot patch "x": hunk "@@ -3 +3 @@" may belong to more than one place, since the hunk before it was found at another line',
    );
    expect(rejected(`${shifted}@@ -2,0 +3 @@\n+C\n`, "x\na\nc\n")).toBe(
      'Cannot patch "x": hunk "@@ -2,0 +3 @@" has no lines to find its place by, and the hunk before it was found at another line',
    );
  });
});

describe("a patch of several files", () => {
  const add = (path: string) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+new\n`;
  const rename = (from: string, to: string) => `diff --git a/${from} b/${to}\nrename from ${from}\nrename to ${to}\n`;

  it("works on the result of what it did to a file before", () => {
    const { files, states } = run(
      `${FIRST}@@ -1 +1 @@\n-a\n+b\n${FIRST}@@ -1 +1 @@\n-b\n+c\n${rename("x", "y")}${rename("y", "z")}`,
      { x: "a\n" },
    );
    expect(files).toEqual([{ path: "z", status: "renamed", oldPath: "x" }]);
    expect([states.get("x"), states.get("z")?.content]).toEqual([undefined, "c\n"]);
  });

  it("can swap two files, or move one where another was", () => {
    const swapped = run(rename("x", "y") + rename("y", "x"), { x: "1\n", y: "2\n" });
    expect([swapped.states.get("x")?.content, swapped.states.get("y")?.content]).toEqual(["2\n", "1\n"]);
    const moved = run(rename("x", "y") + rename("y", "z"), { x: "1\n", y: "2\n" });
    expect(moved.files).toEqual([
      { path: "y", status: "renamed", oldPath: "x" },
      { path: "z", status: "renamed", oldPath: "y" },
    ]);
    expect([moved.states.get("y")?.content, moved.states.get("z")?.content]).toEqual(["1\n", "2\n"]);
  });

  it("tells what came of each file, and nothing of those that are as before", () => {
    const link: FileState = { type: "symlink", mode: 0o777, content: "t" };
    const patch =
      `${add("new")}--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n` +
      "diff --git a/same b/same\nold mode 100644\nnew mode 100755\n" +
      "diff --git a/tool b/tool\nold mode 100644\nnew mode 100755\n" +
      "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-t\n\\ No newline\n" +
      "diff --git a/l b/l\nnew file mode 100644\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n" +
      `${add("brief")}--- a/brief\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n`;
    const same: FileState = { type: "file", mode: 0o755, content: "s" };
    const { files, states } = run(patch, { gone: "g\n", same, tool: { ...same, mode: 0o640 }, l: link });
    expect(files.map(({ path, status }) => `${path} ${status}`).sort()).toEqual([
      "gone deleted",
      "l type_changed",
      "new added",
      "tool modified",
    ]);
    expect(states.get("tool")?.mode).toBe(0o750);
    expect(states.has("same")).toBe(false);
  });

  const link: FileState = { type: "symlink", mode: 0o777, content: "/etc" };
  const newLink =
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline\n";
  it.each([
    ["adds what exists", add("x"), { x: "" }, "PATCH_REJECTED", 'Cannot patch "x": it exists'],
    ["changes nothing", `${FIRST}@@ -1 +1 @@\n-a\n+b\n`, {}, "PATCH_REJECTED", 'Cannot patch "x": it does not exist'],
    [
      "renames onto a file",
      rename("x", "y"),
      { x: "", y: "" },
      "PATCH_REJECTED",
      'Cannot patch "y": the target of the rename exists',
    ],
    [
      "deletes other content",
      "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
      { x: "a\nmore\n" },
      "PATCH_REJECTED",
      'Cannot patch "x": it has more than the patch deletes: expected the end of the file, found "more"',
    ],
    [
      "deletes what it does not show",
      "diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n",
      { x: "a\n" },
      "PATCH_REJECTED",
      'Cannot patch "x": it has more than the patch deletes: expected the end of the file, found "a"',
    ],
    [
      "writes to a link",
      `${FIRST}@@ -1 +1 @@\n-/etc\n\\ No newline\n+b\n`,
      { x: link },
      "FILE_WRONG_TYPE",
      'Cannot patch "x": it is a symlink',
    ],
    [
      "takes a file for a link",
      "diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
      { x: "a\n" },
      "FILE_WRONG_TYPE",
      'Cannot patch "x": it is a file',
    ],
    [
      "goes through a link of its own",
      newLink + add("l/passwd"),
      {},
      "PATCH_REJECTED",
      'Cannot patch "l/passwd": "l" is no folder',
    ],
    [
      "makes an empty link",
      "diff --git a/l b/l\nnew file mode 120000\n",
      {},
      "PATCH_INVALID",
      'The patch makes "l" a symlink without a target',
    ],
  ] as [string, string, Given, string, string][])("is refused when it %s", (_, patch, given, code, message) => {
    expect(refusal(patch, given)).toMatchObject({ code, message });
  });
});
