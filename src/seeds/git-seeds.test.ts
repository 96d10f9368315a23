import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { git, makeRepository, useGitProject } from "../../test/helpers/git-project.ts";
import { currentIdMap } from "../base/id-map.ts";
import type { Seeds } from "../contracts/seeds.ts";

let base: string;
let project: string;
let seeds: Seeds;
useGitProject((made) => ({ base, project, seeds } = made));

function fingerprint(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).concat("").sort();
  return names.map((name) => {
    const { ino, mode, size, mtimeNs, ctimeNs } = fs.lstatSync(join(folder, name), { bigint: true });
    return [name, ino, mode, size, mtimeNs, ctimeNs].join(" ");
  });
}

const files = (tree: string) =>
  fs
    .readdirSync(tree, { recursive: true, encoding: "utf8" })
    .filter((name) => !/(^|\/)\.git(\/|$)/.test(name) && !fs.lstatSync(join(tree, name)).isDirectory())
    .sort();

describe("a git project", () => {
  it("seeds what is tracked and what could be added, not what is ignored or deleted", async () => {
    fs.writeFileSync(join(project, ".env"), "TOKEN=1");
    fs.mkdirSync(join(project, "build"));
    fs.writeFileSync(join(project, "build", "out.o"), "");
    fs.writeFileSync(join(project, "new.txt"), "untracked");
    fs.writeFileSync(join(project, "with\nnewline"), "odd");
    fs.symlinkSync("/nowhere", join(project, "link"));
    fs.writeFileSync(join(project, "gone.txt"), "");
    git(project, "add", "gone.txt", "link");
    fs.rmSync(join(project, "gone.txt"));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff, 0xfe])]), "bytes");

    const { tree, seed } = await seeds.import(project, {});

    const names = fs.readdirSync(tree, { encoding: "latin1" }).sort();
    expect(names).toEqual([".git", ".gitignore", "link", "new.txt", "src", "with\nnewline", "\xff\xfe"]);
    expect(fs.readlinkSync(join(tree, "link"))).toBe("/nowhere");
    expect(seed).toMatchObject({ mode: "directory", seed_path: project, origin_kind: "seed_path" });
    expect(seed.origin_ref).toBe(git(project, "rev-parse", "HEAD").trim());
  });

  it("comes with a .git in which status and history are the same", async () => {
    fs.writeFileSync(join(project, "src", "main.c"), "int changed;\n");
    fs.writeFileSync(join(project, "staged.txt"), "staged");
    git(project, "add", "staged.txt");
    git(project, "tag", "-a", "v1", "-m", "v1");
    git(project, "branch", "other");
    git(project, "pack-refs", "--all");
    git(project, "branch", "third");
    const { tree } = await seeds.import(project, {});
    const owner = currentIdMap().toHost(1000, 1000);
    for (const name of fs.readdirSync(join(tree, ".git"), { recursive: true, encoding: "utf8" })) {
      expect(fs.lstatSync(join(tree, ".git", name))).toMatchObject(owner);
    }
    expect(git(tree, "status", "--porcelain")).toBe(git(project, "status", "--porcelain"));
    expect(git(tree, "log", "--all", "--oneline")).toBe(git(project, "log", "--all", "--oneline"));
    expect(git(tree, "show-ref")).toBe(git(project, "show-ref"));
    expect(git(tree, "diff", "--cached")).toBe(git(project, "diff", "--cached"));
    git(tree, "fsck", "--full", "--strict");
  });

  it("never changes the source, not even its index", async () => {
    fs.writeFileSync(join(project, "src", "main.c"), "int main;\n");
    const before = fingerprint(project);
    await seeds.import(project, {});
    expect(fingerprint(project)).toEqual(before);
  });

  it("leaves home hooks, credentials, logs, dangling objects and settings that run programs", async () => {
    const ran = join(base, "ran");
    const script = join(base, "script");
    fs.writeFileSync(script, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    fs.writeFileSync(join(project, ".env2"), "dangling-secret");
    const dangling = git(project, "hash-object", "-w", ".env2").trim();
    fs.rmSync(join(project, ".env2"));
    fs.copyFileSync(script, join(project, ".git", "hooks", "post-checkout"));
    git(project, "remote", "add", "origin", "https://user:s3cret@example.invalid/a.git?token=s3cret");
    git(project, "config", "http.extraHeader", "Authorization: s3cret");
    git(project, "config", "credential.helper", "store --s3cret");
    git(project, "config", "alias.st", `!${script}`);
    for (const key of [
      "core.fsmonitor",
      "core.sshCommand",
      "core.pager",
      "core.alternateRefsCommand",
      "filter.x.clean",
    ]) {
      git(project, "config", key, script);
    }
    fs.writeFileSync(join(project, ".gitattributes"), "*.c filter=x\n");
    fs.rmSync(ran, { force: true });

    const { tree } = await seeds.import(project, {});

    expect(fs.existsSync(ran)).toBe(false);
    expect(fs.existsSync(join(tree, ".git", "hooks"))).toBe(false);
    expect(fs.existsSync(join(tree, ".git", "logs"))).toBe(false);
    const config = fs.readFileSync(join(tree, ".git", "config"), "utf8");
    expect(config).not.toMatch(/s3cret|script|alias|helper|fsmonitor/);
    expect(config).toContain('url = "https://example.invalid/a.git"');
    expect(() => git(tree, "cat-file", "-e", dangling)).toThrow();
  });

  it("keeps home what the user's own ignore file hides", async () => {
    fs.mkdirSync(join(base, "home", ".config", "git"), { recursive: true });
    fs.writeFileSync(join(base, "home", ".config", "git", "ignore"), "*.default\n");
    fs.writeFileSync(join(project, "a.default"), "");
    fs.writeFileSync(join(project, "a.own"), "");
    expect(files((await seeds.import(project, {})).tree)).toEqual([".gitignore", "a.own", "src/main.c"]);
    fs.writeFileSync(join(base, "home", "own-ignore"), "*.own\n");
    fs.writeFileSync(join(base, "home", ".gitconfig"), "[core]\n\texcludesFile = ~/own-ignore\n");
    expect(files((await seeds.import(project, {})).tree)).toEqual([".gitignore", "a.default", "src/main.c"]);
  });

  it("is not imported again after a mere `git status` or a change to ignored files", async () => {
    const first = await seeds.import(project, {});
    fs.writeFileSync(join(project, ".env"), "changed");
    fs.utimesSync(join(project, ".git", "index"), 1, 1);
    git(project, "update-index", "--refresh", "--force-write-index");
    expect((await seeds.import(project, {})).tree).toBe(first.tree);
    git(project, "commit", "-q", "--allow-empty", "-m", "second");
    expect((await seeds.import(project, {})).tree).not.toBe(first.tree);
  });

  it("seeds a sub-folder by the same rules, without .git, and an ignored folder whole", async () => {
    fs.writeFileSync(join(project, "src", ".env"), "TOKEN=1");
    fs.writeFileSync(join(project, "src", "new.c"), "");
    const { tree, seed } = await seeds.import(join(project, "src"), {});
    expect(fs.readdirSync(tree).sort()).toEqual(["main.c", "new.c"]);
    expect(seed.origin_ref).toBeNull();
    fs.mkdirSync(join(project, "build"));
    fs.writeFileSync(join(project, "build", ".env"), "");
    expect(fs.readdirSync((await seeds.import(join(project, "build"), {})).tree)).toEqual([".env"]);
  });

  it("works before the first commit and when HEAD is detached", async () => {
    const fresh = join(base, "fresh");
    fs.mkdirSync(fresh);
    git(fresh, "init", "-q");
    fs.writeFileSync(join(fresh, "a"), "");
    const first = await seeds.import(fresh, {});
    expect(git(first.tree, "status", "--porcelain")).toBe("?? a\n");
    expect(first.seed.origin_ref).toBeNull();
    git(project, "checkout", "-q", "--detach");
    git(project, "commit", "-q", "--allow-empty", "-m", "detached");
    const second = await seeds.import(project, {});
    expect(git(second.tree, "log", "--format=%s")).toBe("detached\nfirst\n");
  });

  it("says what a broken .git file lacks", async () => {
    const broken = join(base, "broken");
    fs.mkdirSync(broken);
    fs.writeFileSync(join(broken, ".git"), "gitdir: ../missing\n");
    await expect(seeds.import(broken, {})).rejects.toMatchObject({ code: "SEED_INVALID" });
  });

  it("asks for git where there is none", async () => {
    const path = process.env["PATH"];
    process.env["PATH"] = join(base, "home");
    try {
      await expect(seeds.import(project, {})).rejects.toMatchObject({
        code: "SEED_INVALID",
        hint: expect.stringContaining("Install git") as string,
      });
    } finally {
      process.env["PATH"] = path;
    }
  });
});

describe("repositories that hang together", () => {
  it("makes linked worktrees and shallow clones self-contained", async () => {
    git(project, "commit", "-q", "--allow-empty", "-m", "second");
    const worktree = join(base, "worktree");
    git(project, "worktree", "add", "-q", "-b", "side", worktree);
    git(base, "clone", "-q", "--depth", "1", `file://${project}`, "shallow");
    const sources = { worktree, shallow: join(base, "shallow") };
    const trees: Record<string, string> = {};
    for (const [name, path] of Object.entries(sources)) trees[name] = (await seeds.import(path, {})).tree;
    const logs = Object.fromEntries(
      Object.entries(sources).map(([name, path]) => [name, git(path, "log", "--format=%H %D")]),
    );
    fs.renameSync(project, `${project}-moved`);
    for (const [name, tree] of Object.entries(trees)) {
      expect(git(tree, "log", "--format=%H %D"), name).toBe(logs[name]);
      expect(git(tree, "status", "--porcelain"), name).toBe("");
      git(tree, "fsck", "--full");
    }
    expect(git(trees["worktree"]!, "branch", "--show-current")).toBe("side\n");
  });

  it("takes submodules and repositories inside along, each with its own rules and .git", async () => {
    makeRepository(join(base, "library"));
    git(project, "submodule", "add", "-q", join(base, "library"), "lib");
    git(project, "commit", "-q", "-m", "lib");
    fs.writeFileSync(join(project, "lib", ".env"), "TOKEN=1");
    fs.writeFileSync(join(project, "lib", "new.c"), "");
    makeRepository(join(project, "nested"));
    fs.writeFileSync(join(project, "nested", ".env"), "TOKEN=1");
    const { tree } = await seeds.import(project, {});
    expect(files(tree)).toEqual([
      ".gitignore",
      ".gitmodules",
      "lib/.gitignore",
      "lib/new.c",
      "lib/src/main.c",
      "nested/.gitignore",
      "nested/src/main.c",
      "src/main.c",
    ]);
    expect(git(tree, "status", "--porcelain")).toBe(git(project, "status", "--porcelain"));
    expect(git(join(tree, "lib"), "status", "--porcelain")).toBe("?? new.c\n");
    expect(git(join(tree, "nested"), "status", "--porcelain")).toBe("");
  });

  it("keeps the place of a submodule that is not checked out", async () => {
    makeRepository(join(base, "library"));
    git(project, "submodule", "add", "-q", join(base, "library"), "lib");
    git(project, "commit", "-q", "-m", "lib");
    git(project, "submodule", "deinit", "-q", "-f", "lib");
    const { tree } = await seeds.import(project, {});
    expect(git(tree, "status", "--porcelain")).toBe("");
  });

  it("applies git's rules to a checkout inside a plain folder", async () => {
    fs.mkdirSync(join(base, "many"));
    makeRepository(join(base, "many", "one"));
    fs.writeFileSync(join(base, "many", "one", ".env"), "TOKEN=1");
    fs.writeFileSync(join(base, "many", "notes"), "");
    expect(files((await seeds.import(join(base, "many"), {})).tree)).toEqual([
      "notes",
      "one/.gitignore",
      "one/src/main.c",
    ]);
  });
});

describe("a folder that came from somebody else (G-01, G-13)", () => {
  let hostile: string;
  beforeEach(() => {
    hostile = join(base, "hostile");
    makeRepository(join(base, "private"));
    git(join(base, "private"), "commit", "-q", "--allow-empty", "-m", "private history");
  });

  it.each([
    ["a .git file", () => fs.writeFileSync(join(hostile, ".git"), "gitdir: ../private/.git\n")],
    ["a .git link", () => fs.symlinkSync("../private/.git", join(hostile, ".git"))],
    [
      "a commondir",
      () => {
        git(hostile, "init", "-q");
        fs.writeFileSync(join(hostile, ".git", "commondir"), "../../private/.git\n");
      },
    ],
    [
      "links in .git",
      () => {
        git(hostile, "init", "-q");
        fs.rmSync(join(hostile, ".git", "refs"), { recursive: true });
        fs.symlinkSync(join(base, "private", ".git", "refs"), join(hostile, ".git", "refs"));
        fs.writeFileSync(join(hostile, ".git", "objects", "info", "alternates"), `${base}/private/.git/objects\n`);
      },
    ],
    [
      "links in refs",
      () => {
        git(hostile, "init", "-q");
        fs.rmSync(join(hostile, ".git", "refs", "heads"), { recursive: true });
        fs.symlinkSync(join(base, "private", ".git", "refs", "heads"), join(hostile, ".git", "refs", "heads"));
        fs.writeFileSync(join(hostile, ".git", "objects", "info", "alternates"), `${base}/private/.git/objects\n`);
      },
    ],
  ])("brings no other repository's history by %s", async (_, prepare) => {
    fs.mkdirSync(hostile);
    fs.writeFileSync(join(hostile, "bait"), "");
    prepare();
    const commit = git(join(base, "private"), "rev-parse", "HEAD").trim();
    const { tree } = await seeds.import(hostile, {});
    expect(fs.existsSync(join(tree, "bait"))).toBe(true);
    if (fs.existsSync(join(tree, ".git"))) expect(() => git(tree, "cat-file", "-e", commit)).toThrow();
  });

  it("reads no file through a tracked folder that became a link", async () => {
    makeRepository(hostile);
    fs.rmSync(join(hostile, "src"), { recursive: true });
    fs.writeFileSync(join(base, "home", "main.c"), "the user's own");
    fs.symlinkSync(join(base, "home"), join(hostile, "src"));
    const { tree } = await seeds.import(hostile, {});
    expect(fs.lstatSync(join(tree, "src")).isSymbolicLink()).toBe(true);
    expect(fs.readdirSync(tree)).toEqual([".git", ".gitignore", "src"]);
    expect(fs.readdirSync(join(base, "home"))).toEqual(["main.c"]);
  });

  it("runs no program to fetch an object that is missing", async () => {
    makeRepository(hostile);
    const ran = join(base, "ran");
    fs.writeFileSync(join(base, "upload-pack"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    const blob = git(hostile, "rev-parse", "HEAD:src/main.c").trim();
    const commit = git(hostile, "rev-parse", "HEAD").trim();
    fs.rmSync(join(hostile, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
    for (const [key, value] of [
      ["core.repositoryFormatVersion", "1"],
      ["extensions.partialClone", "origin"],
      ["remote.origin.url", `file://${join(base, "private")}`],
      ["remote.origin.promisor", "true"],
      ["remote.origin.uploadPack", join(base, "upload-pack")],
    ] as const)
      git(hostile, "config", key, value);
    fs.writeFileSync(join(hostile, ".git", "refs", "heads", "missing"), `${"1".repeat(40)}\n`);
    await seeds.import(hostile, {}).catch(() => undefined);
    expect(fs.existsSync(ran)).toBe(false);
    expect(() => git(hostile, "cat-file", "-p", blob), `${commit} is there without it`).toThrow();
    expect(fs.existsSync(ran), "git itself does run it").toBe(true);
  });

  it("does not take another folder for the work tree", async () => {
    makeRepository(hostile);
    git(hostile, "config", "core.worktree", join(base, "home"));
    fs.writeFileSync(join(base, "home", "private.txt"), "");
    fs.writeFileSync(join(hostile, "own.txt"), "");
    const { tree } = await seeds.import(hostile, {});
    expect(files(tree)).toEqual([".gitignore", "own.txt", "src/main.c"]);
  });

  it.each(["../../etc/", "../etc/pwd", "/etc/hosts", "src//etc/a", "a/./b/cd/e", ".GIT/hooks"])(
    "refuses an index that names %s",
    async (name) => {
      makeRepository(hostile);
      const index = join(hostile, ".git", "index");
      const bytes = fs.readFileSync(index).toString("latin1").replace("src/main.c", name);
      // the checksum at the end is not looked at when it is all zero
      fs.writeFileSync(index, Buffer.from(bytes.slice(0, -20) + "\0".repeat(20), "latin1"));
      git(hostile, "config", "index.skipHash", "true");
      const message = `Cannot import "${hostile}": its git index names "${name}"`;
      await expect(seeds.import(hostile, {})).rejects.toMatchObject({ code: "SEED_INVALID", message });
    },
  );
});
