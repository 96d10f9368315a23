import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeTree } from "../../base/remove-tree.ts";
import type { HomeChange, HomeState } from "../../policy/way-home/bring-home.ts";
import { treeOnDisk, unsafeLinks } from "./safe-links.ts";

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "cl-ln-"));
  mkdirSync(join(top, "a/b/c/e"), { recursive: true });
  writeFileSync(join(top, "a/b/c/e/file"), "");
});
afterEach(() => removeTree(top));

const file: HomeState = { type: "file", isExecutable: false, content: Buffer.from("x") };
const link = (target: string): HomeState => ({ ...file, type: "symlink", content: Buffer.from(target) });
const change = (path: string, after: HomeState | undefined, before?: HomeState): HomeChange => ({
  path,
  before,
  after,
});

describe("unsafeLinks()", () => {
  const unsafe = async (...changes: HomeChange[]) =>
    [...(await unsafeLinks(changes, [treeOnDisk(top)])).keys()].map(({ path }) => path);

  it("G-79 walks through no link that a change takes away", async () => {
    symlinkSync("a/b/c/e", join(top, "d"));
    const sly = change("x", link("d/../../../secret"));
    expect(await unsafe(sly)).toEqual([]);
    expect(await unsafe(change("d", undefined, link("a/b/c/e")), change("d/file", file), sly)).toEqual(["x"]);
    expect(await unsafe(change("d", file, link("a/b/c/e")), sly)).toEqual(["x"]);
    expect(await unsafe(change("d", link("a"), link("a/b/c/e")), sly)).toEqual(["x"]);
  });

  it("G-79 walks through links that git does not know of", async () => {
    symlinkSync("..", join(top, "up"));
    symlinkSync(".git", join(top, "own"));
    const changes = [change("note", link("up/outside")), change("a/note", link("../own/config"))];
    expect(await unsafe(...changes, change("fine", link("a/b")))).toEqual(["note", "a/note"]);
  });

  it("G-79 walks through what stays when a link that would replace it stays away", async () => {
    symlinkSync("..", join(top, "up"));
    const changes = [change("up", link("/etc"), link("..")), change("note", link("up/outside"))];
    expect((await unsafe(...changes)).toSorted()).toEqual(["note", "up"]);
    const instead = [change("up", link(".git"), link("..")), change("note", link("up/outside"))];
    expect((await unsafe(...instead)).toSorted()).toEqual(["note", "up"]);
    // Of two trees, the one that was asked first is asked again.
    const tree = (links: Record<string, string>) => ({ isFolder: () => false, linkAt: (path: string) => links[path] });
    const away = await unsafeLinks(
      [change("old", link("w/x"), link("..")), change("note", link("q/outside"))],
      [tree({ old: "..", q: "old" }), tree({ w: ".." })],
    );
    expect([...away.keys()].map(({ path }) => path)).toEqual(["old", "note"]);
  });
});
