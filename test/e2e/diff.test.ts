import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Diff } from "../../src/model/files.ts";
import { type Installation, runProcess } from "../helpers/installation.ts";
import { useSandbox } from "../helpers/sandbox.ts";

const LINES = Array.from({ length: 30 }, (_, n) => `line ${n + 1}\n`);
const BINARY = Buffer.from([0, 1, 2, 0xff, 0xfe, 0]);

function writeProject(folder: string): void {
  mkdirSync(join(folder, "sub/deep"), { recursive: true });
  writeFileSync(join(folder, "text.txt"), LINES.join(""));
  writeFileSync(join(folder, "crlf.txt"), "one\r\ntwo\r\nthree\r\n");
  writeFileSync(join(folder, "no-end.txt"), "first\nlast");
  writeFileSync(join(folder, "binary.bin"), BINARY);
  writeFileSync(join(folder, "script.sh"), "#!/bin/sh\n");
  writeFileSync(join(folder, "old-name.txt"), `${LINES.join("")}moved\n`);
  writeFileSync(join(folder, "becomes-link"), "was a file\n");
  writeFileSync(join(folder, "becomes-folder"), "was a file\n");
  writeFileSync(join(folder, "empty.txt"), "");
  writeFileSync(join(folder, "touched.txt"), "same\n");
  writeFileSync(join(folder, "rewritten.txt"), "same\n");
  writeFileSync(join(folder, "odd \"name'\t\n.txt"), "odd\n");
  writeFileSync(join(folder, "sub/a.txt"), "a\n");
  writeFileSync(join(folder, "sub/deep/b.txt"), "b\n");
  symlinkSync("text.txt", join(folder, "link"));
  chmodSync(join(folder, "script.sh"), 0o644);
}

const CHANGES = String.raw`set -e
  sed -i '3s/.*/changed/; 20d' text.txt; echo appended >> text.txt
  sed -i 's/two/TWO/' crlf.txt
  printf 'first\nnew last' > no-end.txt
  printf '\000\001changed\377' > binary.bin
  chmod +x script.sh
  mv old-name.txt new-name.txt; echo and changed >> new-name.txt
  rm becomes-link; ln -s text.txt becomes-link
  rm becomes-folder; mkdir becomes-folder; echo inside > becomes-folder/inside.txt
  echo no longer empty > empty.txt
  touch touched.txt; touch -d 2001-01-01 touched.txt; cat touched.txt > /dev/null
  echo same > copy; cat copy > rewritten.txt; rm copy
  printf 'odder\n' >> "$(printf 'odd "name'"'"'\t\n.txt')"
  rm -r sub
  ln -sfn script.sh link
  mkdir -p fresh/deeper; echo new > fresh/deeper/new.txt; printf 'no end' > fresh/no-end.txt; : > fresh/empty.txt; printf '#!/bin/sh\n' > fresh/run; chmod 755 fresh/run`;

/** Names, kinds, executable bits and contents of files and links below a folder: all that a patch can carry. */
const TREE = String.raw`find . -name .git -prune -o ! -type d -printf '%p %y %l\0' | sort -z; find . -name .git -prune -o -type f -perm -100 -print0 | sort -z; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum`;

async function expectPatchGives(at: Installation, id: string, seed: string, { patch }: Diff): Promise<void> {
  const copy = `${seed}-patched`;
  execFileSync("cp", ["-a", seed, copy]);
  const applied = await runProcess("git", ["apply", "--whitespace=nowarn", "-"], {
    cwd: copy,
    input: patch,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: at.root },
  });
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  const tree = await runProcess("sh", ["-c", TREE], { cwd: copy });
  const inside = await at.sdk.execWorkspace(id, { command: TREE });
  expect(tree.stdout).toBe(inside.stdout);
}

describe("diff", () => {
  const box = useSandbox("diff");

  it("tells each kind of change, and its patch makes the seed what the workspace is", async () => {
    const seed = box.at.path("project");
    writeProject(seed);
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host", seed_path: seed });
    expect(await box.at.sdk.diffWorkspace(id)).toEqual({
      workspace_id: id,
      changed: false,
      summary: { total: 0, added: 0, modified: 0, deleted: 0, renamed: 0, type_changed: 0 },
      entries: [],
      patch: "",
      ignored_count: 0,
      omitted: { count: 0, reasons: {} },
    });
    expect(await box.at.sdk.execWorkspace(id, { command: CHANGES })).toMatchObject({ exit_code: 0, stderr: "" });
    const diff = await box.at.sdk.diffWorkspace(id);
    const seen = Object.fromEntries(diff.entries.map((entry) => [entry.path.replace("/workspace/", ""), entry]));
    const files = Object.entries(seen).filter(([, entry]) => entry.artifact_type !== "directory");
    expect(Object.fromEntries(files.map(([path, entry]) => [path, entry.status]))).toEqual({
      "text.txt": "modified",
      "crlf.txt": "modified",
      "no-end.txt": "modified",
      "binary.bin": "modified",
      "script.sh": "modified",
      "new-name.txt": "renamed",
      "becomes-link": "type_changed",
      "becomes-folder/inside.txt": "added",
      "empty.txt": "modified",
      "odd \"name'\t\n.txt": "modified",
      "sub/a.txt": "deleted",
      "sub/deep/b.txt": "deleted",
      link: "modified",
      "fresh/deeper/new.txt": "added",
      "fresh/no-end.txt": "added",
      "fresh/empty.txt": "added",
      "fresh/run": "added",
    });
    expect(seen["becomes-folder"]).toMatchObject({ status: "type_changed", artifact_type: "directory" });
    expect(seen["new-name.txt"]).toMatchObject({
      old_path: "/workspace/old-name.txt",
      patch: expect.stringContaining("rename from old-name.txt") as string,
    });
    expect(seen["binary.bin"]?.patch).toBeUndefined();
    expect(seen["binary.bin"]).toMatchObject({ artifact_type: "file", size_bytes: 10, omitted: "binary" });
    expect(diff.omitted).toEqual({ count: 1, reasons: { binary: 1 } });
    expect(seen["script.sh"]?.patch).toBe("diff --git a/script.sh b/script.sh\nold mode 100644\nnew mode 100755\n");
    expect(seen["no-end.txt"]?.patch).toContain(
      "-last\n\\ No newline at end of file\n+new last\n\\ No newline at end of file\n",
    );
    expect(seen["crlf.txt"]?.patch).toContain("-two\r\n+TWO\r\n");
    expect(seen["link"]).toMatchObject({
      artifact_type: "symlink",
      patch: expect.stringContaining("-text.txt\n") as string,
    });
    expect(diff.summary.total).toBe(diff.entries.length);

    await box.at.sdk.execWorkspace(id, { command: "printf '\\000\\001\\002\\377\\376\\000' > binary.bin" }); // back to what it was: no patch carries it
    const textual = await box.at.sdk.diffWorkspace(id);
    expect(textual.entries.map((entry) => entry.path)).not.toContain("/workspace/binary.bin");
    await expectPatchGives(box.at, id, seed, textual);

    const human = await box.at.cli(["workspace", "diff", id]);
    expect(human.stdout).toBe(textual.patch);
    expect(human.stderr).toMatch(/^\d+ changed: .*\d+ added.*1 renamed/);
    await box.at.sdk.deleteWorkspace(id);
  });

  it("never shows .git, and works on a checkout after commits inside", async () => {
    const seed = box.at.path("checkout");
    writeProject(seed);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...args], {
        cwd: seed,
        stdio: "pipe",
      });
    git("init", "-q");
    git("init", "-q", "vendored"); // a repository inside, which comes with a .git of its own
    execFileSync(
      "sh",
      [
        "-c",
        "echo v > vendored/v.txt; cd vendored; git add .; git -c user.name=t -c user.email=t@example.invalid commit -q -m v",
      ],
      { cwd: seed },
    );
    git("add", ".", ":!vendored");
    git("commit", "-q", "-m", "first");
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host", seed_path: seed });
    const work = await box.at.sdk.execWorkspace(id, {
      command:
        "echo more >> text.txt && git mv old-name.txt new-name.txt && git rm -q sub/a.txt && git -c user.name=t -c user.email=t@example.invalid commit -qam second && git gc -q && mkdir -p nested/.git && echo x > nested/.git/config && rm -r vendored",
    });
    expect(work).toMatchObject({ exit_code: 0, stdout: "", stderr: "" });
    const diff = await box.at.sdk.diffWorkspace(id);
    expect(
      diff.entries.filter((entry) => entry.artifact_type === "file").map(({ path, status }) => [path, status]),
    ).toEqual([
      ["/workspace/new-name.txt", "renamed"],
      ["/workspace/sub/a.txt", "deleted"],
      ["/workspace/text.txt", "modified"],
      ["/workspace/vendored/v.txt", "deleted"],
    ]);
    expect(diff.patch).not.toContain(".git/");
    await expectPatchGives(box.at, id, seed, diff);
    await box.at.sdk.deleteWorkspace(id);
  });

  it("of an empty workspace is all that was made; a pipe is no change that a patch could carry", async () => {
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host" });
    await box.at.sdk.execWorkspace(id, {
      command:
        "mkfifo pipe; echo new > a.txt; head -c 3M /dev/zero | tr '\\0' x > large.txt; mkdir folder; printf '\\377\\376' > latin; ln -s \"$(printf '\\377')\" latin-link",
    });
    const diff = await box.at.sdk.diffWorkspace(id);
    const entries = Object.fromEntries(diff.entries.map((entry) => [entry.path, entry]));
    expect(entries["/workspace/a.txt"]).toEqual({
      path: "/workspace/a.txt",
      status: "added",
      artifact_type: "file",
      size_bytes: 4,
      patch: "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n",
    });
    for (const name of ["large.txt", "latin"])
      expect(entries[`/workspace/${name}`]).toMatchObject({ status: "added", artifact_type: "file" });
    for (const name of ["large.txt", "latin", "latin-link", "pipe"])
      expect(entries[`/workspace/${name}`]?.patch).toBeUndefined();
    expect(entries["/workspace/latin-link"]).toMatchObject({ status: "added", artifact_type: "symlink" });
    expect(entries["/workspace/folder"]).toBeUndefined(); // git knows no empty folders either
    await box.at.sdk.deleteWorkspace(id);
  });

  it("is a patch that git takes also where something that no patch can tell became something else", async () => {
    const seed = box.at.path("kinds");
    mkdirSync(join(seed, "folder"), { recursive: true });
    for (const name of ["binary", "now-folder", "folder/binary"]) writeFileSync(join(seed, name), BINARY);
    writeFileSync(join(seed, "text"), "text\n");
    const { workspace_id: id } = await box.at.sdk.createWorkspace({ environment: "host", seed_path: seed });
    const command = `rm -r binary now-folder folder; ln -s text binary; mkdir now-folder; echo new > now-folder/a; echo new > folder; echo more >> text`;
    expect(await box.at.sdk.execWorkspace(id, { command })).toMatchObject({ exit_code: 0 });
    const { patch, entries } = await box.at.sdk.diffWorkspace(id);
    expect(entries.map(({ path, patch: own }) => [path, own !== undefined])).toEqual([
      ["/workspace/binary", false],
      ["/workspace/folder", false],
      ["/workspace/folder/binary", false],
      ["/workspace/now-folder", false],
      ["/workspace/now-folder/a", false],
      ["/workspace/text", true],
    ]);
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: box.at.root };
    const applied = await runProcess("git", ["apply", "-"], { cwd: seed, input: patch, env });
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    await box.at.sdk.deleteWorkspace(id);
  });
});
