import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyPatch } from "../../src/workspaces/apply-patch.ts";
import { GuestWorkspace } from "./guest-workspace.ts";
import { AGENT, shell } from "./real-guest.ts";

const BEFORE = {
  "a.txt": "644 one\ntwo\nthree\n",
  "dir/only.txt": "644 only\n",
  "dir/sub/deep.txt": "644 deep\n",
  dir: "755 /",
  "dir/sub": "755 /",
  inside: "-> dir",
  locked: "755 /",
  outside: "-> ../../../../tmp",
  "private.sh": "750 echo\n",
};

const without = (...paths: string[]) =>
  Object.fromEntries(Object.entries(BEFORE).filter(([path]) => !paths.includes(path)));

function prepare(baseline: string): void {
  const at = (name: string) => join(baseline, name);
  mkdirSync(at("dir/sub"), { recursive: true });
  writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
  writeFileSync(at("dir/only.txt"), "only\n");
  writeFileSync(at("dir/sub/deep.txt"), "deep\n");
  writeFileSync(at("private.sh"), "echo\n");
  chmodSync(at("private.sh"), 0o750);
  for (const name of readdirSync(baseline, { recursive: true })) chownSync(at(String(name)), AGENT.uid, AGENT.gid);
  mkdirSync(at("locked"), { mode: 0o755 }); // of root
  symlinkSync("dir", at("inside"));
  symlinkSync("../../../../tmp", at("outside"));
}

let workspace: GuestWorkspace;
beforeEach(async () => {
  workspace = await GuestWorkspace.start(prepare);
});
afterEach(async () => {
  await workspace[Symbol.asyncDispose]();
});

const apply = (patch: string) => applyPatch(workspace, workspace, { workspace_id: workspace.workspaceId, patch });
const edit = (path: string, from: string, to: string) =>
  `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
const add = (path: string, mode = "100644") =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+new\n`;
const remove = (path: string, line: string) => `--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`;

describe("applyPatch()", () => {
  it("writes every kind of change, keeps modes, and removes folders that it emptied", async () => {
    const result = await apply(
      edit("private.sh", "echo", "echo hello") +
        add("fresh/tool.sh", "100755") +
        remove("dir/sub/deep.txt", "deep") +
        "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n--- a/a.txt\n+++ b/b.txt\n@@ -2,2 +2,2 @@\n-two\n+TWO\n three\n" +
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+b.txt\n\\ No newline\n" +
        "diff --git a/inside b/inside\nindex 1..2 120000\n--- a/inside\n+++ b/inside\n@@ -1 +1 @@\n-dir\n\\ No newline\n+l\n\\ No newline\n",
    );
    expect(result.workspace_id).toBe("ws-test");
    expect(result.changed).toBe(true);
    expect(result.files).toHaveLength(6);
    const files = result.files.map(({ path, status }) => ({ path, status }));
    expect(workspace.events.told).toMatchObject([{ kind: "patch.applied", files }]);
    expect(result.files).toEqual(
      expect.arrayContaining([
        { path: "/workspace/private.sh", status: "modified" },
        { path: "/workspace/fresh/tool.sh", status: "added" },
        { path: "/workspace/dir/sub/deep.txt", status: "deleted" },
        { path: "/workspace/b.txt", status: "renamed", old_path: "/workspace/a.txt" },
        { path: "/workspace/l", status: "added" },
        { path: "/workspace/inside", status: "modified" },
      ]),
    );
    const kept = without("a.txt", "dir/sub", "dir/sub/deep.txt");
    expect(await workspace.tree()).toEqual({
      ...kept,
      "b.txt": "644 one\nTWO\nthree\n",
      fresh: "755 /",
      "fresh/tool.sh": "755 new\n",
      inside: "-> l",
      l: "-> b.txt",
      "private.sh": "750 echo hello\n",
    });
    const stat = await shell(await workspace.guest.client(), `stat -c %u ${workspace.guest.workspace}/fresh/tool.sh`);
    expect(stat.stdout).toBe(`${AGENT.uid}\n`);
    const { mtimeNs } = await (await workspace.files()).stat("workspace", "b.txt");
    expect(Math.abs(Number(mtimeNs / 1_000_000n) - Date.now())).toBeLessThan(60_000);
  });

  it("puts a file where a folder was, and a folder where a file was", async () => {
    await apply(remove("dir/only.txt", "only") + remove("dir/sub/deep.txt", "deep") + add("dir"));
    await apply(
      "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n" +
        add("a.txt/below"),
    );
    const kept = without("dir/only.txt", "dir/sub", "dir/sub/deep.txt");
    expect(await workspace.tree()).toEqual({ ...kept, dir: "644 new\n", "a.txt": "755 /", "a.txt/below": "644 new\n" });
  });

  it("says that nothing changed when nothing did", async () => {
    const same = "diff --git a/private.sh b/private.sh\nold mode 100644\nnew mode 100755\n";
    expect(await apply(same)).toEqual({ workspace_id: "ws-test", changed: false, files: [] });
    expect(await (await workspace.files()).changes()).toEqual([]);
  });

  const good = edit("private.sh", "echo", "changed") + add("brand-new.txt") + remove("dir/sub/deep.txt", "deep");
  it.each([
    ["a hunk that does not fit", edit("dir/only.txt", "other", "x"), "PATCH_REJECTED", /"dir\/only\.txt"/],
    ["a file that is missing", edit("missing.txt", "x", "y"), "PATCH_REJECTED", /"missing\.txt": it does not exist/],
    ["a file that exists", add("a.txt"), "PATCH_REJECTED", /"a\.txt": it exists/],
    ["a link that leaves the workspace", add("outside/escape.txt"), "PATH_OUTSIDE_WORKSPACE", /outside\/escape\.txt/],
    ["a file through a link", edit("inside/only.txt", "only", "x"), "FILE_WRONG_TYPE", /"inside" is a symlink/],
    ["a link itself", edit("inside", "dir", "x"), "FILE_WRONG_TYPE", /"inside": it is a symlink/],
    ["a folder that keeps files", add("dir"), "FILE_WRONG_TYPE", /"dir": it is a directory/],
    ["a path below a file", add("a.txt/x"), "FILE_WRONG_TYPE", /"a\.txt" is a file/],
    ["a climbing path", add("../escape"), "PATH_OUTSIDE_WORKSPACE", /escape/],
    ["a folder it may not write", add("locked/x"), "FILE_FAILED", /locked\/x/],
  ])("writes nothing at all when it meets %s", async (_, bad, code, message) => {
    const failed = expect(apply(good + bad)).rejects;
    await failed.toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(await workspace.tree()).toEqual(BEFORE);
  });
});
