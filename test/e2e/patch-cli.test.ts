import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, Installation, runProcess } from "../helpers/installation.ts";

let at: Installation;
let id: string;
beforeAll(async () => {
  at = new Installation("pa");
  mkdirSync(at.path("seed"));
  const files =
    "seq 20 > n; printf 'a\\r\\nb\\r\\n' > crlf; printf 'no end' > bare; mkdir d; echo in > d/f; ln -s /etc out; ln -s d in; ln -s ../../etc/passwd up; printf '\\0\\1' > bin";
  expect((await runProcess("sh", ["-c", files], { cwd: at.path("seed") })).code).toBe(0);
  id = (await at.sdk.createWorkspace({ environment: "host", seed_path: at.path("seed") })).workspace_id;
});
afterAll(() => at[Symbol.asyncDispose]());

const apply = (patch: string, ...more: string[]) =>
  at.cli(["workspace", "patch", "apply", id, "--patch-file", "-", ...more], { input: patch });
const tree = async () =>
  (
    await at.sdk.execWorkspace(id, {
      command: "find . -printf '%p %y %m %l\\n' | sort; find . -type f | sort | xargs sha256sum",
    })
  ).stdout;
const errorOf = ({ stdout }: CliResult) => (JSON.parse(stdout) as { error: { code: string; message: string } }).error;

const GOOD = "--- a/d/f\n+++ b/d/f\n@@ -1 +1 @@\n-in\n+changed\n";
const edit = (file: string, from = "in", to = "x") => `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;

describe("a patch that is refused changes nothing", () => {
  it.each([
    ["half applies", `${GOOD}--- a/n\n+++ b/n\n@@ -3,3 +3,3 @@\n 3\n-four\n+4\n 5\n`, 1, "PATCH_REJECTED", "n"],
    ["names a file that is not there", GOOD + edit("missing"), 1, "PATCH_REJECTED", "missing"],
    ["adds a file that is there", `${GOOD}--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n`, 1, "PATCH_REJECTED", "n"],
    ["goes through a link that leaves", GOOD + edit("out/hostname", "x", "y"), 2, "PATH_OUTSIDE_WORKSPACE", "out"],
    ["goes through a link that stays", GOOD + edit("in/f"), 1, "FILE_WRONG_TYPE", "in"],
    ["edits what a link points to", GOOD + edit("up", "root", "y"), 1, "FILE_WRONG_TYPE", "up"],
    ["leaves by dots", GOOD + edit("../../etc/passwd"), 2, "PATH_OUTSIDE_WORKSPACE", "etc/passwd"],
    ["is absolute", `${GOOD}--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-x\n+y\n`, 2, "", "etc/passwd"],
    [
      "is binary",
      `${GOOD}diff --git a/bin b/bin\nindex 1..2 100644\nBinary files a/bin and b/bin differ\n`,
      2,
      "PATCH_INVALID",
      "bin",
    ],
    ["makes a device", `${GOOD}diff --git a/dev b/dev\nnew file mode 020666\n`, 2, "PATCH_INVALID", "020666"],
    ["is cut off", GOOD + "--- a/n\n+++ b/n\n@@ -1,3 +1,3 @@\n 1\n", 2, "PATCH_INVALID", ""],
    ["is no patch", "hello\n", 2, "PATCH_INVALID", ""],
    ["is empty", "", 2, "", ""],
  ])("that %s", async (_what, patch, exit, code, names) => {
    const before = await tree();
    const answer = await apply(patch, "--json");
    const error = errorOf(answer);
    if (code !== "") expect(error.code, error.message).toBe(code);
    expect(error.message).toContain(names);
    expect(answer.code).toBe(exit);
    expect(await tree()).toBe(before);
    expect((await at.sdk.diffWorkspace(id)).changed).toBe(false);
  });

  it("whose options are wrong is a usage error", async () => {
    for (const words of [[], ["--patch", "x", "--patch-file", "y"], ["--patch-file", at.path("missing")]])
      expect((await at.cli(["workspace", "patch", "apply", id, ...words])).code, words.join(" ")).toBe(2);
  });
});

describe("a patch", () => {
  it("tells what differs, two lines for a person", async () => {
    const { stderr, code } = await apply("--- a/n\n+++ b/n\n@@ -3,3 +3,3 @@\n 3\n-four\n+4\n 5\n");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*n.*/);
    expect(stderr).toContain("four");
    expect(stderr).toContain("hint: ");
  });

  it("of every kind gives what git gives, from git's own words, and back", async () => {
    const work = at.path("work");
    const script = `cp -a ${at.path("seed")} ${work}; cd ${work}; git init -q; git config user.email a@b; git config user.name a; git add -A; git commit -qm one
      sed -i 's/^7$/seven/; 15d' n; sed -i 's/b/c/' crlf; printf 'now\\n' > bare; git mv d/f moved; rmdir d; chmod +x bin; mkdir -p new/deep; echo x > 'new/deep/odd name'; ln -sfn nowhere in; rm out; printf 'tail' > new/tail; git add -A; git diff --cached -M HEAD`;
    const patch = (await runProcess("sh", ["-c", script])).stdout;
    const answer = await apply(patch);
    expect(answer.stderr).toBe("");
    expect(answer.stdout.split("\n")).toEqual(
      expect.arrayContaining([
        "modified /workspace/n",
        "renamed /workspace/moved (was /workspace/d/f)",
        "added /workspace/new/deep/odd name",
        "deleted /workspace/out",
      ]),
    );
    expect(answer.code).toBe(0);
    const list =
      "find . -path ./.git -prune -o -printf '%p %y %m %l\\n' | sort; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum";
    const here = (await runProcess("sh", ["-c", list], { cwd: work })).stdout;
    const there = (await at.sdk.execWorkspace(id, { command: list })).stdout;
    const skipTop = (text: string) => text.split("\n").filter((line) => !/^\. d /.test(line));
    expect(skipTop(there)).toEqual(skipTop(here));
    const back = (await runProcess("git", ["diff", "--cached", "-M", "-R", "HEAD"], { cwd: work })).stdout;
    const reverted = await at.cli(["workspace", "patch", "apply", id, "--patch", back, "--json"]);
    expect(reverted.json()).toMatchObject({ workspace_id: id, changed: true });
    expect((await at.sdk.diffWorkspace(id)).entries).toEqual([]);
  });

  it("of the workspace's own diff applies to a fresh one", async () => {
    await at.sdk.execWorkspace(id, { command: "sed -i 3d n; rm bare; echo new > z; chmod 700 d/f" });
    const { stdout: patch } = await at.cli(["workspace", "diff", id]);
    const other = (await at.sdk.createWorkspace({ environment: "host", seed_path: at.path("seed") })).workspace_id;
    const file = at.path("own.patch");
    writeFileSync(file, patch);
    expect((await at.cli(["workspace", "patch", "apply", other, "--patch-file", file])).code).toBe(0);
    const again = await at.sdk.diffWorkspace(other);
    expect(again.patch).toBe((await at.sdk.diffWorkspace(id)).patch);
    await at.sdk.deleteWorkspace(other);
  });
});
