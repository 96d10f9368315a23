import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import type { Seeds } from "../contracts/seeds.ts";
import { createSeeds } from "./create-seeds.ts";

const SECRET = "the secret of another repository\n";

let base: string;
let victim: string;
let hostile: string;
let seeds: Seeds;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "cloche-borrowed-")));
  seeds = createSeeds({ cachePath: join(base, "cache"), idMap: currentIdMap(), log: silentLog });
  victim = join(base, "victim");
  hostile = join(base, "hostile");
  makeRepository(victim, "secret.txt", SECRET);
  makeRepository(hostile, "bait.txt", "bait\n");
});

afterEach(() => {
  fs.rmSync(base, { recursive: true, force: true });
});

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "safe.directory=*"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function makeRepository(folder: string, name: string, content: string): void {
  fs.mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  fs.writeFileSync(join(folder, name), content);
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", name);
}

const head = (folder: string) => git(folder, "rev-parse", "HEAD").trim();

function write(path: string, content: string | Buffer): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, content);
}

function replaceByLink(path: string, target: string): void {
  fs.rmSync(path, { recursive: true, force: true });
  fs.symlinkSync(target, path);
}

/** A branch of the hostile repository that names the victim's commit. */
function nameStolen(gitDir = join(hostile, ".git")): void {
  fs.writeFileSync(join(gitDir, "refs", "heads", "stolen"), `${head(victim)}\n`);
}

async function expectNothingStolen(): Promise<string> {
  const commit = head(victim);
  const { tree } = await seeds.import(hostile, {});
  expect(fs.readFileSync(join(tree, "bait.txt"), "utf8")).toBe("bait\n");
  if (fs.existsSync(join(tree, ".git"))) {
    expect(() => git(tree, "cat-file", "-e", commit)).toThrow();
    expect(() => git(tree, "show", "stolen:secret.txt")).toThrow();
  }
  return tree;
}

const ownObjects = (...names: string[]) => join(hostile, ".git", "objects", ...names);
const victimObjects = (...names: string[]) => join(victim, ".git", "objects", ...names);

/** A multi-pack-index of the victim's that finds the victim's pack from the hostile repository. */
function forgedPackIndex(): Buffer {
  git(victim, "repack", "-a", "-d", "-q");
  git(victim, "multi-pack-index", "write");
  const original = fs.readFileSync(victimObjects("pack", "multi-pack-index"));
  const chunks = original.readUInt8(6);
  const at = original.indexOf("pack-");
  const name = original.subarray(at, original.indexOf(0, at)).toString("latin1");
  const folder = relative(ownObjects("pack"), victimObjects("pack"));
  // chunks begin at multiples of four bytes
  const path = folder + "/".repeat(4 - (folder.length % 4)) + name;
  const grown = path.length - name.length;
  const forged = Buffer.concat([original.subarray(0, at), Buffer.from(path), original.subarray(at + name.length)]);
  for (let chunk = 0; chunk <= chunks; chunk += 1) {
    const offset = 12 + chunk * 12 + 4;
    const value = forged.readBigUInt64BE(offset);
    if (value > BigInt(at)) forged.writeBigUInt64BE(value + BigInt(grown), offset);
  }
  return forged;
}

describe("a repository that reaches for the objects of another one (G-01)", () => {
  it.each<[string, () => void]>([
    ["alternates", () => write(ownObjects("info", "alternates"), `${victimObjects()}\n`)],
    ["relative alternates", () => write(ownObjects("info", "alternates"), "../../../victim/.git/objects\n")],
    ["quoted alternates", () => write(ownObjects("info", "alternates"), `# a comment\n"${victimObjects()}"\n`)],
    [
      "alternates of an object store inside the project",
      () => {
        write(join(hostile, "store", "info", "alternates"), `${victimObjects()}\n`);
        write(ownObjects("info", "alternates"), "../../store\n");
      },
    ],
    [
      "alternates that are a link",
      () => {
        write(join(hostile, "list"), `${victimObjects()}\n`);
        fs.mkdirSync(ownObjects("info"), { recursive: true });
        fs.symlinkSync("../../../list", ownObjects("info", "alternates"));
      },
    ],
    [
      "a linked info folder",
      () => {
        write(join(hostile, "list", "alternates"), `${victimObjects()}\n`);
        replaceByLink(ownObjects("info"), join(hostile, "list"));
      },
    ],
    [
      "a linked pack folder",
      () => {
        git(victim, "repack", "-a", "-d", "-q");
        replaceByLink(ownObjects("pack"), victimObjects("pack"));
      },
    ],
    [
      "linked packs",
      () => {
        git(victim, "repack", "-a", "-d", "-q");
        for (const name of fs.readdirSync(victimObjects("pack"))) {
          fs.symlinkSync(victimObjects("pack", name), ownObjects("pack", name));
        }
      },
    ],
    [
      "linked folders of loose objects",
      () => {
        for (const name of fs.readdirSync(victimObjects()).filter((each) => each.length === 2)) {
          replaceByLink(ownObjects(name), victimObjects(name));
        }
      },
    ],
    [
      "linked loose objects",
      () => {
        for (const name of fs.readdirSync(victimObjects(), { recursive: true, encoding: "utf8" })) {
          if (!/^..\/.{38}$/.test(name)) continue;
          fs.mkdirSync(dirname(ownObjects(name)), { recursive: true });
          fs.symlinkSync(victimObjects(name), ownObjects(name));
        }
      },
    ],
    [
      "an index of packs that names the other's pack",
      () => write(ownObjects("pack", "multi-pack-index"), forgedPackIndex()),
    ],
  ])("gets none by %s", async (_, prepare) => {
    nameStolen();
    prepare();
    // the trick works for git itself, so that nothing but the import stands against it
    expect(git(hostile, "show", "stolen:secret.txt")).toBe(SECRET);
    await expectNothingStolen();
  });

  it.each<[string, (shared: string) => void]>([
    ["alternates", (shared) => write(join(shared, "objects", "info", "alternates"), `${victimObjects()}\n`)],
    [
      "linked packs",
      (shared) => {
        git(victim, "repack", "-a", "-d", "-q");
        replaceByLink(join(shared, "objects", "pack"), victimObjects("pack"));
      },
    ],
  ])("gets none by %s behind a worktree that it made itself", async (_, prepare) => {
    nameStolen();
    const shared = join(hostile, "shared");
    const own = join(shared, "worktrees", "x");
    fs.renameSync(join(hostile, ".git"), shared);
    write(join(own, "HEAD"), "ref: refs/heads/main\n");
    write(join(own, "commondir"), "../..\n");
    write(join(own, "gitdir"), `${hostile}/.git\n`);
    write(join(hostile, ".git"), `gitdir: ${own}\n`);
    prepare(shared);
    expect(git(hostile, "show", "stolen:secret.txt")).toBe(SECRET);
    await expectNothingStolen();
  });

  it("brings no files of a folder that its refs are linked to", async () => {
    const keys = join(base, "keys");
    write(join(keys, "id"), "private key\n");
    fs.symlinkSync(keys, join(hostile, ".git", "reftable"));
    const tree = await expectNothingStolen();
    expect(fs.readdirSync(tree, { recursive: true }).filter((name) => String(name).endsWith("/id"))).toEqual([]);
  });

  it.each(["shallow", join("info", "grafts")])("has no history when %s is a link", async (name) => {
    const secret = join(base, "secret");
    write(secret, "no hash but a secret\n");
    fs.mkdirSync(join(hostile, ".git", "info"), { recursive: true });
    fs.symlinkSync(secret, join(hostile, ".git", name));
    const { tree } = await seeds.import(hostile, {});
    expect(fs.readdirSync(tree)).toEqual(["bait.txt"]);
  });
});

describe("history that is the repository's own", () => {
  it("stays home, with the files imported, while a clone borrows it, and comes along once the clone has its own", async () => {
    git(base, "clone", "-q", "--shared", victim, "borrowed");
    const borrowed = join(base, "borrowed");
    const told: string[] = [];
    const first = await seeds.import(borrowed, { progress: ({ step }) => told.push(step) });
    expect(fs.readdirSync(first.tree)).toEqual(["secret.txt"]);
    expect(told.join("\n")).toContain('leads elsewhere: ".git"');
    git(borrowed, "repack", "-a", "-d", "-q");
    fs.rmSync(join(borrowed, ".git", "objects", "info", "alternates"));
    const second = await seeds.import(borrowed, {});
    expect(git(second.tree, "status", "--porcelain")).toBe("");
    expect(head(second.tree)).toBe(head(victim));
  });

  it("comes along with replaced objects, a commit graph and an index of packs", async () => {
    const first = head(hostile);
    git(hostile, "commit", "-q", "--allow-empty", "-m", "second");
    git(hostile, "repack", "-d", "-q");
    git(hostile, "commit", "-q", "--allow-empty", "-m", "third");
    git(hostile, "repack", "-d", "-q");
    git(hostile, "replace", "HEAD", first);
    git(hostile, "multi-pack-index", "write");
    git(hostile, "commit-graph", "write", "--reachable");
    git(hostile, "pack-refs", "--all");
    const { tree } = await seeds.import(hostile, {});
    expect(git(tree, "--no-replace-objects", "log", "--format=%s")).toBe("third\nsecond\nbait.txt\n");
    expect(git(tree, "log", "--format=%s")).toBe("bait.txt\n");
  });
});
