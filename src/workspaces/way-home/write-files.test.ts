import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HomeState } from "../../policy/way-home/bring-home.ts";
import { type FileChangeHere, writeFiles } from "./write-files.ts";

let base: string;
let top: string;
let gitDir: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "cloche-home-"));
  [top, gitDir] = [join(base, "top"), join(base, "git")];
  for (const folder of [top, gitDir]) mkdirSync(folder);
  for (const name of ["gone", "changed"]) writeFileSync(join(top, name), `${name}\n`);
  chmodSync(join(top, "changed"), 0o640);
  mkdirSync(join(top, "emptied"));
  writeFileSync(join(top, "emptied/gone"), "gone\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const file = (text: string): HomeState => ({ type: "file", isExecutable: false, content: Buffer.from(text) });
const link = (target: string): HomeState => ({ ...file(target), type: "symlink" });
const change = (path: string, was: HomeState | undefined, becomes: HomeState | undefined): FileChangeHere => ({
  path,
  was,
  becomes,
});
const CHANGES = [
  change("gone", file("gone\n"), undefined),
  change("emptied/gone", file("gone\n"), undefined),
  change("changed", file("changed\n"), file("anew\n")),
  change("new/deep/file", undefined, file("new\n")),
  change("new/link", undefined, link("deep/file")),
];
const tree = () => readdirSync(top, { recursive: true }).map(String).toSorted();
const read = (path: string) => readFileSync(join(top, path), "utf8");
const inode = () => statSync(join(top, "changed")).ino;

describe("writeFiles()", () => {
  it("makes every kind of change, keeps the mode of what it replaces, and leaves nothing beside", async () => {
    await writeFiles({ path: top, gitDir }, CHANGES);
    expect(tree()).toEqual(["changed", "new", "new/deep", "new/deep/file", "new/link"]);
    expect(readdirSync(gitDir)).toEqual([]);
    expect([read("changed"), read("new/link"), statSync(join(top, "changed")).mode & 0o777]).toEqual([
      "anew\n",
      "new\n",
      0o640,
    ]);
  });

  it("G-144 removes a stage that was left when it was written down, and nothing else of such a name", async () => {
    const [left, theirs, fresh] = [
      "cloche-apply-0123456789ab",
      "cloche-apply-ba9876543210",
      "cloche-apply-aaaaaaaaaaaa",
    ];
    const old = Date.now() / 1000 - 7200;
    for (const name of [left, theirs, fresh]) {
      mkdirSync(join(top, `.${name}`));
      writeFileSync(join(top, `.${name}/0`), "");
      if (name !== theirs) writeFileSync(join(gitDir, name), "");
    }
    for (const path of [join(gitDir, left), join(top, `.${left}`), join(top, `.${theirs}`)]) utimesSync(path, old, old);
    await writeFiles({ path: top, gitDir }, CHANGES);
    expect(readdirSync(top).filter((name) => name.startsWith(".cloche"))).toEqual([`.${fresh}`, `.${theirs}`]);
    expect(readdirSync(gitDir)).toEqual([fresh]);
  });

  it("G-80 takes all of it back when a change fails halfway: the files themselves, and no folder that it made", async () => {
    const before = tree();
    const itself = inode();
    // A file comes to be where a folder has to be, after all was decided.
    writeFileSync(join(top, "way"), "in the way\n");
    const failing = [
      ...CHANGES.slice(0, 4),
      change("other/x", undefined, file("x")),
      change("way/x", undefined, file("x")),
    ];
    await expect(writeFiles({ path: top, gitDir }, failing)).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
    expect(tree()).toEqual([...before, "way"].toSorted());
    expect([read("gone"), read("emptied/gone"), read("changed"), read("way")]).toEqual([
      "gone\n",
      "gone\n",
      "changed\n",
      "in the way\n",
    ]);
    expect(inode()).toBe(itself);
  });

  it.each([
    ["made", "new/deep/file"],
    ["changed, to as many bytes", "changed"],
  ])("G-80 leaves alone what somebody else has %s meanwhile", async (_, path) => {
    mkdirSync(join(top, "new/deep"), { recursive: true });
    writeFileSync(join(top, path), "theirs!\n");
    await expect(writeFiles({ path: top, gitDir }, CHANGES)).rejects.toMatchObject({
      code: "APPLY_CONFLICT",
      message: expect.stringContaining(path) as unknown,
    });
    expect([read(path), read("gone")]).toEqual(["theirs!\n", "gone\n"]);
  });
});
