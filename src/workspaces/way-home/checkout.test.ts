import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
} from "node:fs";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { git } from "../../../test/helpers/git-project.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { Checkout } from "./checkout.ts";

/** A user id that belongs to nobody. */
const OTHER = 54_322;
const isRoot = process.getuid?.() === 0;

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "cl-co-")));
  project = join(base, "project");
  mkdirSync(project);
  git(project, "init", "-q", "-b", "main", ".");
  writeFileSync(join(project, "file"), "file\n");
  git(project, "add", ".");
  git(project, "commit", "-q", "-m", "first");
});
afterEach(() => removeTree(base));

const open = (folder: string) => Checkout.open(folder, AbortSignal.timeout(60_000));
const refused = (message: string) => ({
  code: "CHECKOUT_INVALID",
  message: expect.stringContaining(message) as unknown,
});

describe("Checkout", () => {
  it.runIf(isRoot).each(["", ".git"])("G-140 refuses a repository of another user (%s)", async (whose) => {
    mkdirSync(join(project, "below"));
    chownSync(join(project, whose), OTHER, OTHER);
    await expect(open(join(project, "below"))).rejects.toMatchObject(refused("belongs to another user"));
    chownSync(join(project, whose), 0, 0);
    expect((await open(join(project, "below"))).path).toBe(project);
  });

  it.runIf(isRoot)("G-140 refuses another user's repository behind a link or a `.git` file of one's own", async () => {
    git(project, "worktree", "add", "-q", join(base, "tree"));
    const linked = join(base, "linked");
    mkdirSync(linked);
    symlinkSync(join(project, ".git"), join(linked, ".git"));
    for (const folder of ["tree", "linked"]) expect((await open(join(base, folder))).path).toBe(join(base, folder));
    chownSync(join(project, ".git"), OTHER, OTHER);
    for (const folder of ["tree", "linked"])
      await expect(open(join(base, folder))).rejects.toMatchObject(refused("belongs to another user"));
    chownSync(join(project, ".git"), 0, 0);
    lchownSync(join(linked, ".git"), OTHER, OTHER);
    await expect(open(linked)).rejects.toMatchObject(refused("belongs to another user"));
  });

  it("G-140 refuses a `.git` file that names a repository with another checkout", async () => {
    const sly = join(base, "sly");
    mkdirSync(sly);
    git(project, "worktree", "add", "-q", join(base, "tree"));
    for (const named of [join(project, ".git"), join(project, ".git/worktrees/tree")]) {
      writeFileSync(join(sly, ".git"), `gitdir: ${named}\n`);
      await expect(open(sly)).rejects.toMatchObject(refused("which has another checkout"));
    }
    expect((await open(join(base, "tree"))).gitDir).toBe(join(project, ".git/worktrees/tree"));
  });

  it("G-140 runs no filter of a repository, and refuses one whose filters it cannot turn off", async () => {
    const mark = join(base, "mark");
    const program = join(base, "mark.sh");
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`);
    chmodSync(program, 0o755);
    const plant = (name: string) => {
      const section = `[filter "${name}"]\n clean = ${program}\n smudge = ${program}\n process = ${program}\n required\n`;
      appendFileSync(join(project, ".git/config"), Buffer.from(section, "latin1"));
      writeFileSync(join(project, ".git/info/attributes"), Buffer.from(`* filter=${name}\n`, "latin1"));
    };
    for (const name of ["plain", "d.o.t", Buffer.from("é").toString("latin1")]) {
      plant(name);
      const checkout = await open(project);
      writeFileSync(join(project, "file"), "FILE\n"); // as long as it was: git has to look
      await checkout.committedFiles();
      expect([name, existsSync(mark)]).toEqual([name, false]);
    }
    plant("e\u00ff");
    const opened = open(project).then((checkout) => checkout.committedFiles());
    await expect(opened).rejects.toMatchObject(refused("no UTF-8"));
    expect(existsSync(mark)).toBe(false);
  });
});
