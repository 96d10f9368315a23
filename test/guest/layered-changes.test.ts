import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type FileChange, GuestFiles } from "../../src/guest/files.ts";
import { AGENT, RealGuest, shell } from "./real-guest.ts";

function put(root: string, path: string, content: string): void {
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), 0o644);
  lchownSync(join(root, path), AGENT.uid, AGENT.gid);
}

function makeFolder(root: string, path: string): void {
  mkdirSync(join(root, path));
  chownSync(join(root, path), AGENT.uid, AGENT.gid);
}

/** As `changes()` tells them: `STATUS PATH`, sorted by path. */
async function changesOf(guest: RealGuest): Promise<string[]> {
  const files = new GuestFiles(await guest.client(), AGENT);
  return told(await files.changes());
}

const told = (changes: readonly FileChange[]): string[] => changes.map(({ status, path }) => `${status} ${path}`);

/** Folder by folder, as a host does that wants to see them all. */
async function askForAll(files: GuestFiles, layers: number): Promise<string[]> {
  const changes: FileChange[] = [];
  for (let paths: Buffer[] = [Buffer.alloc(0)]; paths.length > 0;) {
    const found = await files.changesAt(
      paths.map((path) => ({ manner: "asking", path })),
      { layers },
    );
    changes.push(...found.changes);
    paths = found.folders.map(({ pathBytes }) => pathBytes);
  }
  // A folder that is asked for once more tells once more that it was none.
  const once = new Map(changes.map((change) => [change.path, change]));
  return told([...once.values()].sort((a, b) => Buffer.compare(a.pathBytes, b.pathBytes)));
}

async function inShell(guest: RealGuest, script: string): Promise<void> {
  const { exit, stderr } = await shell(await guest.client(), script, { cwd: guest.workspace });
  expect([exit.code, stderr]).toEqual([0, ""]);
}

type Leaf = { kind: string; mode: number; content: string };
type Tree = Map<string, Leaf>;

/** A whole tree without its folders, and with them as leaves of their own where a file may have been. */
function readTree(root: string, path = "", tree: Tree = new Map()): Tree {
  for (const name of readdirSync(join(root, path))) {
    const below = path === "" ? name : `${path}/${name}`;
    if (below === ".git") continue;
    const at = join(root, below);
    const stat = lstatSync(at);
    tree.set(below, { kind: kindOf(stat), mode: stat.isFile() ? stat.mode & 0o7777 : 0, content: contentOf(at, stat) });
    if (stat.isDirectory()) readTree(root, below, tree);
  }
  return tree;
}

const kindOf = (stat: Stats) => (stat.isDirectory() ? "folder" : stat.isSymbolicLink() ? "link" : "file");
const contentOf = (path: string, stat: Stats) =>
  stat.isDirectory() ? "" : stat.isSymbolicLink() ? readlinkSync(path) : readFileSync(path, "latin1");

/** The rules of `changes`, by looking at everything. */
function plainCompare(before: Tree, now: Tree): string[] {
  const found: string[] = [];
  for (const path of [...new Set([...before.keys(), ...now.keys()])]) {
    const was = before.get(path);
    const is = now.get(path);
    if (was && is && was.kind !== is.kind) found.push(`type_changed ${path}`);
    else if (!was && is && is.kind !== "folder") found.push(`added ${path}`);
    else if (was && !is && was.kind !== "folder") found.push(`deleted ${path}`);
    else if (was && is && (was.mode !== is.mode || was.content !== is.content)) found.push(`modified ${path}`);
  }
  const byPath = (line: string) => Buffer.from(line.slice(line.indexOf(" ") + 1));
  return found.sort((a, b) => Buffer.compare(byPath(a), byPath(b)));
}

/** The workspace as the sandbox sees it; its mounts are not the host's, so a process in it is the way. */
async function readMerged(guest: RealGuest): Promise<Tree> {
  const files = new GuestFiles(await guest.client(), AGENT);
  const tree: Tree = new Map();
  for await (const item of files.treeOut("workspace", "")) {
    const parts: Uint8Array[] = [];
    for await (const data of item.content ?? []) parts.push(Buffer.from(data));
    if (item.path === "" || item.path === ".git" || item.path.startsWith(".git/")) continue;
    const kind = item.type === "directory" ? "folder" : item.type === "symlink" ? "link" : "file";
    const content = kind === "link" ? item.linkTarget! : Buffer.concat(parts).toString("latin1");
    tree.set(item.path, { kind, mode: kind === "file" ? item.mode : 0, content });
  }
  return tree;
}

describe("changes() over several layers", () => {
  it("are what the merged workspace and the baseline differ in", async () => {
    await using guest = await RealGuest.start(true, ({ baseline }) => {
      for (const folder of ["dir", "dir/sub", "gone", "again", "swap", ".git"]) makeFolder(baseline, folder);
      for (const file of [
        "same",
        "edited",
        "back",
        "dir/a",
        "dir/sub/b",
        "gone/x",
        "again/1",
        "again/2",
        "swap/in",
        "file",
      ])
        put(baseline, file, `${file}\n`);
      put(baseline, ".git/HEAD", "x");
    });
    await inShell(
      guest,
      `set -e; echo 1 >> edited; rm back; rm -r gone; rm -r again; mkdir dir/new; echo n > dir/new/n; echo t > temporary
      rm -r swap; echo now-a-file > swap; rm file; mkdir file; echo f > file/f; echo y > .git/HEAD`,
    );
    await guest.freeze();
    await inShell(
      guest,
      `set -e; echo back > back; mkdir again; echo 1 > again/1x; rm temporary; rm -r dir; echo kept > added
      rm swap; mkdir swap; echo swap/in > swap/in`,
    );
    await guest.freeze();
    await inShell(guest, `set -e; mkdir dir; echo dir/a > dir/a; echo again/1 > again/1; rm added; ln -s same link`);
    expect(await changesOf(guest)).toEqual(
      [
        "deleted again/2",
        "added again/1x",
        "deleted dir/sub/b",
        "modified edited",
        "type_changed file",
        "added file/f",
        "deleted gone/x",
        "added link",
      ].sort((a, b) => (a.split(" ")[1]! < b.split(" ")[1]! ? -1 : 1)),
    );
    await guest.freeze();
    expect(plainCompare(readTree(guest.baseline), await readMerged(guest))).toEqual(await changesOf(guest));
    await inShell(
      guest,
      "printf 'edited\\n' > edited; rm -r file again link; printf 'file\\n' > file; mkdir again gone dir/sub",
    );
    await inShell(guest, "for f in again/1 again/2 gone/x dir/sub/b; do echo $f > $f; done");
    expect(await changesOf(guest)).toEqual([]);
  });

  it("see through a layer whose folder was closed", async () => {
    await using guest = await RealGuest.start(true, ({ baseline }) => {
      makeFolder(baseline, "dir");
      put(baseline, "dir/a", "a");
    });
    await inShell(guest, "echo b > dir/b; chmod 0 dir");
    await guest.freeze();
    await inShell(guest, "chmod 755 dir; rm dir/a");
    expect(await changesOf(guest)).toEqual(["deleted dir/a", "added dir/b"]);
  });

  it.each([1, 2, 3, 4, 5, 6])("tell the same as a plain comparison after random edits, %i", async (seed) => {
    let state = seed * 2_654_435_761;
    const random = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state >>> 8) % below;
    };
    const names = ["a", "b", "c"];
    const path = () => Array.from({ length: 1 + random(3) }, () => names[random(3)]!).join("/");
    await using guest = await RealGuest.start(true, ({ baseline }) => {
      for (const one of names) {
        makeFolder(baseline, one);
        for (const two of ["a", "b"]) {
          makeFolder(baseline, `${one}/${two}`);
          for (const three of names) put(baseline, `${one}/${two}/${three}`, `${two}${three}`);
        }
        put(baseline, `${one}/c`, one);
      }
    });
    const edit = () => {
      const at = path();
      const quiet = "2>/dev/null || :";
      switch (random(6)) {
        case 0:
          return `rm -rf ${at}`;
        case 1:
          return `mkdir -p ${at} ${quiet}`;
        case 2:
          return `rm -rf ${at}; mkdir -p ${at} ${quiet}`;
        case 3:
          return `{ rm -rf ${at}; ln -s ${path()} ${at}; } ${quiet}`;
        case 4:
          return `[ -f ${at} ] && chmod ${random(2) ? 755 : 644} ${at} ${quiet}`;
        default:
          return `{ printf ${at.replaceAll("/", "").slice(1)} > ${at}; } ${quiet}`;
      }
    };
    const states = [readTree(guest.baseline)];
    for (let layer = 0; layer < 4; layer++) {
      await inShell(guest, `${Array.from({ length: 6 }, edit).join("\n")}\n:`);
      expect(await changesOf(guest)).toEqual(plainCompare(readTree(guest.baseline), await readMerged(guest)));
      await guest.freeze();
      states.push(await readMerged(guest));
    }
    await inShell(guest, `${Array.from({ length: 6 }, edit).join("\n")}\n:`);
    const now = await readMerged(guest);
    const files = new GuestFiles(await guest.client(), AGENT);
    for (const [layers, before] of states.entries()) {
      const all = plainCompare(before, now);
      const whole = await files.changesAt([{ manner: "whole", path: "" }], { layers });
      expect(told(whole.changes)).toEqual(all);
      expect(await askForAll(files, layers)).toEqual(all);
      expect((await files.changesAt([{ manner: "counting", path: "" }], { layers })).counted).toBe(all.length);
      for (const change of whole.changes) {
        const at = await files.changesAt([{ manner: "whole", path: change.pathBytes }], { layers });
        expect(told(at.changes)).toEqual(
          all.filter((line) => line.endsWith(` ${change.path}`) || line.includes(` ${change.path}/`)),
        );
        if (change.oldType !== "file") continue;
        const old = await files.readAll(`layers:${layers}`, change.pathBytes, { maxBytes: 1000 });
        expect(old.content.toString("latin1")).toBe(before.get(change.path)!.content);
      }
    }
  });
});
