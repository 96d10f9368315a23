import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { git } from "../../../test/helpers/git-project.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { addWorktree } from "./add-worktree.ts";
import { Checkout } from "./checkout.ts";

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "cl-wt-")));
  project = join(base, "project");
  mkdirSync(project, { mode: 0o755 });
  git(project, "init", "-q", "-b", "main", ".");
  mkdirSync(join(project, "sub"));
  writeFileSync(join(project, "sub/file"), "file\n");
  writeFileSync(join(project, ".gitattributes"), "* filter=mark\n");
  git(project, "add", ".");
  git(project, "commit", "-q", "-m", "first");
  git(project, "branch", "cloche/x");
});
afterEach(() => removeTree(base));

const signal = AbortSignal.timeout(60_000);
const add = async (folder: string, checkout?: Checkout) => {
  const commit = git(project, "rev-parse", "cloche/x").trim();
  const wanted = { branch: "cloche/x", folder, commit, signal };
  await addWorktree(checkout ?? (await Checkout.open(project, signal)), wanted);
};

describe("addWorktree()", () => {
  it("makes a folder as open as the checkout, with all that the branch has", async () => {
    const folder = join(base, "tree");
    await add(folder);
    expect(readFileSync(join(folder, "sub/file"), "utf8")).toBe("file\n");
    expect(git(folder, "status", "--porcelain", "-b")).toBe("## cloche/x\n");
    expect(statSync(folder).mode & 0o777).toBe(statSync(project).mode & 0o777);
  });

  it("G-140 runs no filter that is configured for a branch or for worktrees only", async () => {
    const mark = join(base, "mark");
    const program = join(base, "mark.sh");
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`);
    chmodSync(program, 0o755);
    const included = join(base, "included");
    writeFileSync(included, `[filter "mark"]\n smudge = ${program}\n clean = ${program}\n`);
    for (const condition of ["onbranch:cloche/**", "gitdir:**/worktrees/**"])
      appendFileSync(join(project, ".git/config"), `[includeIf "${condition}"]\n path = ${included}\n`);
    await add(join(base, "tree"));
    expect(readdirSync(join(base, "tree")).toSorted()).toEqual([".git", ".gitattributes", "sub"]);
    expect(existsSync(mark)).toBe(false);
  });

  it("G-143 takes no folder that somebody else has made meanwhile, and leaves it alone", async () => {
    const folder = join(base, "tree");
    mkdirSync(folder);
    await expect(add(folder)).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    expect([readdirSync(folder), git(project, "branch", "--list", "cloche/x")]).toEqual([[], ""]);
  });

  it("G-143 writes nothing of the project into a folder that has been put in the place of its own", async () => {
    const folder = join(base, "tree");
    const checkout = await Checkout.open(project, signal);
    const must = checkout.must.bind(checkout);
    let mode = 0;
    checkout.must = async (args) => {
      mode = statSync(folder).mode & 0o777;
      const done = await must(args);
      renameSync(folder, join(base, "moved"));
      mkdirSync(folder);
      writeFileSync(join(folder, ".git"), readFileSync(join(base, "moved/.git")));
      return done;
    };
    await expect(add(folder, checkout)).rejects.toMatchObject({ code: "OUTPUT_INVALID" });
    expect(mode).toBe(0o700);
    expect(existsSync(join(folder, "sub"))).toBe(false);
    expect(git(project, "branch", "--list", "cloche/x")).toBe("");
  });
});
