import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTree } from "../../src/base/remove-tree.ts";
import { Installation, runProcess } from "../helpers/installation.ts";

const NO_SETTINGS = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "protocol.file.allow",
  GIT_CONFIG_VALUE_0: "always",
};

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
  return execFileSync("git", [...identity, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...NO_SETTINGS },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Every name, mode, time and content below a folder. */
async function fingerprint(folder: string): Promise<string> {
  const script =
    "find . -printf '%p %y %m %U %T@ %s %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum";
  return createHash("sha256")
    .update((await runProcess("sh", ["-c", script], { cwd: folder })).stdout)
    .digest("hex");
}

describe("seeds", () => {
  let at: Installation;
  let project: string;
  const cache = mkdtempSync(join(tmpdir(), "cl-cache-"));
  const seeds = join(cache, "seeds");

  afterAll(async () => {
    await at[Symbol.asyncDispose]();
    await removeTree(cache);
  });

  beforeAll(() => {
    at = new Installation("seed", { CLOCHE_CACHE: cache });
    const library = at.path("library");
    mkdirSync(library);
    git(library, "init", "-q", "-b", "main");
    writeFileSync(join(library, "lib.c"), "int lib;\n");
    git(library, "add", ".");
    git(library, "commit", "-q", "-m", "library");

    project = at.path("project");
    mkdirSync(join(project, "src"), { recursive: true });
    git(project, "init", "-q", "-b", "main");
    writeFileSync(join(project, ".gitignore"), "*.log\nnode_modules/\n.env\n");
    writeFileSync(join(project, "src/main.c"), "int main;\n");
    writeFileSync(join(project, "run.sh"), "#!/bin/sh\necho run\n");
    chmodSync(join(project, "run.sh"), 0o755);
    writeFileSync(join(project, "new\nline.txt"), "odd\n");
    writeFileSync(Buffer.concat([Buffer.from(`${project}/byte-`), Buffer.from([0xff])]), "odder\n");
    writeFileSync(join(project, "--dash 'quote\".txt"), "oddest\n");
    symlinkSync("src/main.c", join(project, "link"));
    symlinkSync("nowhere", join(project, "dangling"));
    symlinkSync("/etc/hostname", join(project, "absolute"));
    git(project, "submodule", "add", "-q", library, "lib");
    git(project, "add", ".");
    git(project, "commit", "-q", "-m", "first");
    writeFileSync(join(project, "debug.log"), "ignored\n");
    writeFileSync(join(project, ".env"), "TOKEN=secret\n");
    mkdirSync(join(project, "node_modules/x"), { recursive: true });
    writeFileSync(join(project, "node_modules/x/index.js"), "ignored\n");
  });

  const create = async (path: string) => await at.sdk.createWorkspace({ environment: "host", seed_path: path });
  const sh = async (id: string, command: string) => {
    const { stdout, stderr, exit_code } = await at.sdk.execWorkspace(id, { command });
    expect({ stderr, exit_code }).toEqual({ stderr: "", exit_code: 0 });
    return stdout;
  };
  const cached = () => readdirSync(seeds).filter((name) => !name.startsWith("."));

  it("a git project comes whole, with submodule, links and odd names, clean as it was; what is ignored stays home", async () => {
    const before = await fingerprint(project);
    const workspace = await create(project);
    expect(workspace.workspace_seed).toMatchObject({
      mode: "directory",
      seed_path: project,
      origin_kind: "seed_path",
      origin_ref: git(project, "rev-parse", "HEAD").trim(),
    });
    const id = workspace.workspace_id;
    expect(await sh(id, "git status --short")).toBe("");
    expect(await sh(id, "git log --format=%s; git -C lib log --format=%s; git submodule status | cut -c1")).toBe(
      "first\nlibrary\n \n",
    );
    expect(
      await sh(
        id,
        'cat src/main.c lib/lib.c link "$(printf \'new\\nline.txt\')" "$(printf \'byte-\\377\')" -- "--dash \'quote\\".txt"; ./run.sh',
      ),
    ).toBe("int main;\nint lib;\nint main;\nodd\nodder\noddest\nrun\n");
    expect(await sh(id, "readlink dangling absolute; stat -c '%U %a' . run.sh src src/main.c")).toBe(
      "nowhere\n/etc/hostname\nagent 755\nagent 755\nagent 755\nagent 644\n",
    );
    expect(await sh(id, "ls -A | grep -E 'log$|node_modules|^[.]env' || true")).toBe("");
    expect(await sh(id, "git ls-files -s")).toBe(git(project, "ls-files", "-s"));
    expect(await sh(id, "git fsck --full 2>/dev/null")).toBe("");
    await sh(
      id,
      "git checkout -q -b work && echo more >> src/main.c && git -c user.name=a -c user.email=a@example.invalid commit -qam more",
    );
    expect(await fingerprint(project)).toBe(before);
  });

  it("a dirty checkout is as dirty inside", async () => {
    const dirty = at.path("dirty");
    execFileSync("cp", ["-a", project, dirty]);
    appendFileSync(join(dirty, "src/main.c"), "int changed;\n");
    rmSync(join(dirty, "run.sh"));
    writeFileSync(join(dirty, "untracked.txt"), "new\n");
    writeFileSync(join(dirty, "staged.txt"), "staged\n");
    git(dirty, "add", "staged.txt");
    const { workspace_id: id } = await create(dirty);
    const expected = " D run.sh\n M src/main.c\nA  staged.txt\n?? untracked.txt\n";
    expect(git(dirty, "status", "--short")).toBe(expected);
    expect(await sh(id, "git status --short")).toBe(expected);
    expect((await at.sdk.diffWorkspace(id)).changed).toBe(false);
  });

  it("the same state is imported once; another state is another seed", async () => {
    const folder = at.path("twice");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.txt"), "a\n");
    await create(folder);
    const first = cached();
    const inodes = () => cached().map((name) => [name, statSync(join(seeds, name, "tree")).ino]);
    const before = inodes();
    const again = await create(folder);
    expect(inodes()).toEqual(before);
    expect(await sh(again.workspace_id, "cat a.txt; echo spoiled > a.txt")).toBe("a\n");
    writeFileSync(join(folder, "b.txt"), "b\n");
    const third = await create(folder);
    expect(cached()).toHaveLength(first.length + 1);
    expect(await sh(third.workspace_id, "cat a.txt b.txt")).toBe("a\nb\n");
  });

  it("a relative path counts from where the CLI is called", async () => {
    const made = await at.cli(["run", "--seed-path", "src", "--", "ls"], { cwd: project });
    expect(made).toMatchObject({ code: 0, stdout: "main.c\n" });
    expect(await at.cli(["run", "--seed-path", ".", "--", "git", "status", "--short"], { cwd: project })).toMatchObject(
      { code: 0, stdout: "" },
    );
  });

  it("an empty workspace is empty and agent's own; without a seed nothing is imported", async () => {
    const before = existsSync(seeds) ? cached() : [];
    const workspace = await at.sdk.createWorkspace({ environment: "host" });
    expect(workspace.workspace_seed).toEqual({
      mode: "empty",
      seed_path: null,
      origin_kind: null,
      origin_ref: null,
      left_out: null,
      included: null,
    });
    expect(await sh(workspace.workspace_id, "ls -A | wc -l; stat -c '%U %a' .; touch new")).toBe("0\nagent 755\n");
    expect(cached().filter((name) => !name.startsWith("empty"))).toEqual(
      before.filter((name) => !name.startsWith("empty")),
    );
  });

  it("what git ignores comes along when it is named, is remembered, and is not in a diff", async () => {
    const run = async (...words: string[]) => await at.cli(["run", "--seed-path", project, ...words, "--", "ls", "-A"]);
    const first = await run();
    expect(first.stderr).toContain("note: what git ignores stayed at home: ");
    expect(first.stderr).toContain("node_modules/ (1 file, 8 B)");
    expect(first.stderr).toContain("--include-ignored");
    const named = await run("--include", "node_modules", "--include", "nothing", "--remember");
    expect(named.stdout.split("\n")).toContain("node_modules");
    expect(named.stderr).toBe("note: --include nothing matched nothing that git ignores\n");
    const remembered = await run("--json");
    expect(remembered.json()).toMatchObject({
      workspace_seed: { included: { is_remembered: true, include: ["node_modules", "nothing"], files: 1 } },
    });
    expect((await run("--no-include", "--remember")).stdout).not.toContain("node_modules");
    expect((await run("--include-ignored")).stderr).toBe(
      "note: .env stayed at home, which may hold secrets; name it to bring it: --include .env\n",
    );
    expect((await run("--include", ".env")).stderr).toBe("note: .env came along, which may hold secrets\n");
    for (const words of [["--remember"], ["--no-include", "--include-ignored"]])
      expect((await run(...words)).code, words.join(" ")).toBe(2);
    expect((await at.cli(["run", "--include-ignored", "--", "true"])).code).toBe(2);

    const whole = await at.sdk.createWorkspace({ environment: "host", seed_path: project, include_ignored: true });
    expect(await sh(whole.workspace_id, "cat node_modules/x/index.js debug.log; git status --short")).toBe(
      "ignored\nignored\n",
    );
    expect((await at.sdk.diffWorkspace(whole.workspace_id)).changed).toBe(false);
    await at.sdk.deleteWorkspace(whole.workspace_id);
  });

  it.each([
    ["a.tar", "-cf"],
    ["a.tar.gz", "-czf"],
    ["a.tgz", "-czf"],
  ])("the archive %s comes with modes and links", async (name, flags) => {
    execFileSync("tar", [flags, at.path(name), "-C", project, "src", "run.sh", "link", "dangling"]);
    const { workspace_id: id, workspace_seed: seed } = await create(at.path(name));
    expect(seed).toMatchObject({ mode: "tar_archive", seed_path: at.path(name) });
    expect(await sh(id, "cat link; ./run.sh; readlink dangling; stat -c '%U %a' run.sh")).toBe(
      "int main;\nrun\nnowhere\nagent 755\n",
    );
  });

  it.each<[string, string, string]>([
    ["a name with ..", "mkdir s; touch s/x; tar -cPf evil.tar --transform 's,^s/x,../escaped,' s/x", "../escaped"],
    ["an absolute name", "touch x; tar -cPf evil.tar --transform 's,^x,/tmp/cloche-escaped,' x", "/tmp/cloche-escaped"],
    ["a device", "mknod dev c 1 3; tar -cf evil.tar dev", "dev"],
    ["a pipe", "mkfifo pipe; tar -cf evil.tar pipe", "pipe"],
    ["a link that leaves", "ln -s ../../etc up; tar -cf evil.tar up", "up"],
    ["an absolute link", "ln -s /etc/passwd abs; tar -cf evil.tar abs", "abs"],
    [
      "a file behind a link",
      "mkdir d; touch d/f; tar -cf a.tar d/f; rm -r d; ln -s . d; tar -cf evil.tar d; tar -Af evil.tar a.tar",
      "d/f",
    ],
  ])("an archive with %s is refused, names the member and leaves nothing", async (_what, script, member) => {
    const folder = at.path("evil");
    mkdirSync(folder);
    execFileSync("sh", ["-ec", script], { cwd: folder });
    const before = [cached(), (await at.sdk.listWorkspaces()).count, readdirSync(at.root).sort()];
    const { code, json } = await at.cli(["workspace", "create", "--json", "--seed-path", join(folder, "evil.tar")]);
    expect(code).toBe(2);
    expect(json()).toMatchObject({
      error: {
        code: "SEED_INVALID",
        message: expect.stringContaining(`"${member}"`) as string,
        hint: expect.stringMatching(/./) as string,
      },
    });
    expect([cached(), (await at.sdk.listWorkspaces()).count, readdirSync(at.root).sort()]).toEqual(before);
    expect(readdirSync(seeds).filter((name) => name.startsWith(".tmp"))).toEqual([]);
    expect(existsSync("/tmp/cloche-escaped")).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
