import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, useGitProject } from "../../test/helpers/git-project.ts";
import type { Seeds } from "../contracts/seeds.ts";

let base: string;
let project: string;
let seeds: Seeds;
useGitProject((made) => ({ base, project, seeds } = made));

describe("the ignore rules of a seed", () => {
  const covers = async (path: string, name: string, isFolder = false) => {
    const { tree } = await seeds.import(path, {});
    return seeds.ignoreRules(tree).matcher().covers(name, isFolder);
  };

  it("are those of the project, of the repository and of the user, as they were imported", async () => {
    fs.writeFileSync(join(project, "src/.gitignore"), "!build/\nout\n");
    fs.writeFileSync(join(project, ".git/info/exclude"), "*.tmp\n");
    fs.mkdirSync(join(base, "home/.config/git"), { recursive: true });
    fs.writeFileSync(join(base, "home/.config/git/ignore"), "*.swp\n*.tmp2\n");
    for (const [name, expected] of Object.entries({
      "build/a.o": true,
      ".env": true,
      "src/out/x": true,
      "src/build/x": false,
      "a.tmp": true,
      "src/b.swp": true,
      "src/main.c": false,
    }))
      expect([name, await covers(project, name)]).toEqual([name, expected]);
    fs.rmSync(join(base, "home/.config/git/ignore"));
    expect(await covers(project, "src/b.swp")).toBe(false);
    git(project, "config", "--global", "core.excludesFile", "~/mine");
    fs.writeFileSync(join(base, "home/mine"), "*.swp\n");
    expect(await covers(project, "src/b.swp")).toBe(true);
  });

  it("hold in a folder of the project, also when that is all that may be read", async () => {
    fs.writeFileSync(join(project, ".gitignore"), "/src/gen\n*.o\n");
    fs.writeFileSync(join(project, ".git/info/exclude"), "src/own\n");
    const scope = { kind: "project", root: project } as const;
    for (const options of [{}, { scope }]) {
      const { tree } = await seeds.import(join(project, "src"), options);
      const rules = seeds.ignoreRules(tree).matcher();
      expect(["gen", "own", "a/b.o", "src"].map((name) => rules.covers(name, true))).toEqual([true, true, true, false]);
    }
  });

  it("are those of a plain folder and of an archive, too", async () => {
    const plain = join(base, "plain");
    fs.mkdirSync(plain);
    fs.writeFileSync(join(plain, ".gitignore"), "*.log\n");
    expect(await covers(plain, "a/b.log")).toBe(true);
    execFileSync("tar", ["-C", plain, "-cf", join(base, "plain.tar"), "."]);
    expect(await covers(join(base, "plain.tar"), "a/b.log")).toBe(true);
  });
});
