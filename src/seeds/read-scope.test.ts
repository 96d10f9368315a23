import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import type { Seeds } from "../contracts/seeds.ts";
import type { ReadScope } from "../model/read-scope.ts";
import { copyScan } from "./copy-scan.ts";
import { createSeeds } from "./create-seeds.ts";
import { runSeedImport, type ImportRunner } from "./run-import.ts";
import { emptyScan } from "./scan.ts";
import { ScannedEntries } from "./scanned-entries.ts";
import { SeedCache } from "./seed-cache.ts";
import { SourceChanged } from "./seed-errors.ts";

let base: string;
let project: string;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "cloche-read-scope-")));
  project = join(base, "project");
  write(join(base, "private/key"), "private\n");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

function write(path: string, text: string): void {
  fs.mkdirSync(join(path, ".."), { recursive: true });
  fs.writeFileSync(path, text);
}

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: folder, stdio: "pipe" });

function checkout(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) write(join(folder, path), text);
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "first");
}

const open = (run: ImportRunner = runSeedImport): Seeds =>
  createSeeds({ cachePath: join(base, "cache"), idMap: currentIdMap(), log: silentLog, run });

async function read(path: string, scope: ReadScope, run?: ImportRunner): Promise<string[]> {
  const { tree } = await open(run).import(path, { scope });
  const found = execFileSync("find", [".", "-path", "./.git", "-prune", "-o", "!", "-type", "d", "-printf", "%P\n"], {
    cwd: tree,
    encoding: "utf8",
  });
  return found.trimEnd().split("\n").sort();
}

const ofProject = (path: string) => read(path, { root: project, kind: "project" });
const REFUSED = { code: "HOST_ACCESS_REFUSED", hint: expect.stringContaining("--allow-read") as string };

describe("G-23: what may be read of a git project is what its seed brings", () => {
  beforeEach(() => {
    checkout(project, { "a.txt": "a", "src/b.txt": "b", ".gitignore": "/secret/\n*.key\nold.tar\nvendor/\n" });
    write(join(project, "secret/token"), "t");
    write(join(project, "src/own.key"), "k");
    write(join(project, "src/new.txt"), "n");
    fs.symlinkSync("../private", join(project, "out"));
    fs.symlinkSync("src", join(project, "within"));
  });

  it("the whole of it, a folder of it, and an archive in it", async () => {
    expect(await ofProject(project)).toEqual([".gitignore", "a.txt", "out", "src/b.txt", "src/new.txt", "within"]);
    expect(await ofProject(join(project, "src"))).toEqual(["b.txt", "new.txt"]);
    execFileSync("tar", ["-C", join(project, "src"), "-cf", join(project, "fresh.tar"), "b.txt"]);
    expect(await ofProject(join(project, "fresh.tar"))).toEqual(["b.txt"]);
  });

  it("nothing that git ignores, by whatever name", async () => {
    execFileSync("tar", ["-C", join(project, "secret"), "-cf", join(project, "old.tar"), "token"]);
    checkout(join(project, "vendor/lib"), { "inner.txt": "i" });
    for (const path of ["secret", "old.tar", "vendor", "vendor/lib", ".git", ".git/hooks", ".git/refs/heads"]) {
      await expect(ofProject(join(project, path)), path).rejects.toMatchObject(REFUSED);
    }
  });

  it("nothing outside, and nothing through a link", async () => {
    for (const path of [join(base, "private"), base, "/proc/self", join(project, "out"), join(project, "within")]) {
      await expect(ofProject(path), path).rejects.toMatchObject(REFUSED);
    }
  });

  it("what a nested checkout seeds", async () => {
    checkout(join(project, "nested"), { "n.txt": "n", ".gitignore": "hidden\n" });
    write(join(project, "nested/hidden"), "h");
    expect(await ofProject(join(project, "nested"))).toEqual([".gitignore", "n.txt"]);
  });

  it.each(["project", "folder"] as const)(
    "a folder of a %s that becomes a link on the way leads nowhere",
    async (kind) => {
      // After the check of the path, and for good: each attempt of the import finds the link.
      const swap: ImportRunner = async (request, progress, signal) => {
        fs.renameSync(join(project, "src"), join(project, "src-was"));
        fs.symlinkSync("../private", join(project, "src"));
        return await runSeedImport(request, progress, signal);
      };
      await expect(read(join(project, "src"), { root: project, kind }, swap)).rejects.toMatchObject(REFUSED);
    },
  );
});

describe("G-23: what may be read of a folder", () => {
  const ofFolder = (path: string, root: string) => read(path, { root, kind: "folder" });

  it("is all that is below it, by its real path", async () => {
    write(join(base, "open/x/y"), "y");
    fs.symlinkSync("../private", join(base, "open/out"));
    expect(await ofFolder(join(base, "open/x"), join(base, "open"))).toEqual(["y"]);
    expect(await ofFolder(join(base, "open"), join(base, "open"))).toEqual(["out", "x/y"]);
    for (const path of ["open/out", "private", "open-and-more", "open/../private"]) {
      fs.mkdirSync(join(base, "open-and-more"), { recursive: true });
      await expect(ofFolder(join(base, path), join(base, "open")), path).rejects.toMatchObject(REFUSED);
    }
  });

  it("of a project that is no checkout is what its seed brings", async () => {
    write(join(project, "a"), "a");
    write(join(project, "b/c"), "c");
    execFileSync("mkfifo", [join(project, "pipe.tar")]);
    expect(await ofProject(project)).toEqual(["a", "b/c"]);
    expect(await ofProject(join(project, "b"))).toEqual(["c"]);
    await expect(ofProject(join(project, "pipe.tar"))).rejects.toMatchObject({ code: "SEED_INVALID" });
    await expect(ofProject(join(base, "private"))).rejects.toMatchObject(REFUSED);
  });

  it("is no file that a folder leads to which became a link while it was looked at", async () => {
    write(join(project, "b/key"), "mine\n");
    const entries = new ScannedEntries();
    entries.add("", "b", fs.lstatSync(join(project, "b")));
    fs.renameSync(join(project, "b"), join(project, "was"));
    fs.symlinkSync("../private", join(project, "b"));
    entries.add("b", "key", fs.lstatSync(join(project, "b/key")));
    const owner = { kind: "test", uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const copy = () =>
      copyScan({ ...emptyScan(project), entries }, new SeedCache(join(base, "cache"), owner).begin().tree, {
        progress: () => undefined,
        aborted: () => false,
        signal: new AbortController().signal,
      });
    await expect(copy()).rejects.toThrow(SourceChanged);
  });
});
