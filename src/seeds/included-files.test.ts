import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import type { Seeds } from "../contracts/seeds.ts";
import type { ReadScope } from "../model/read-scope.ts";
import { createSeeds } from "./create-seeds.ts";

let base: string;
let project: string;
let seeds: Seeds;

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "cloche-included-")));
  project = join(base, "project");
  seeds = createSeeds({
    cachePath: join(base, "cache"),
    home: join(project, "own-home"),
    idMap: currentIdMap(),
    log: silentLog,
  });
  write("a.txt", "a");
  write(".gitignore", "node_modules/\n.env*\n*.pem\nconfig/local/\ndist/\nown-home/\n");
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  write("node_modules/tool/bin.js", "#!/usr/bin/env node\n", 0o755);
  write("node_modules/tool/.npmrc", "//registry.example/:_authToken=t\n");
  write("node_modules/tool/inner/.git/HEAD", "ref: refs/heads/main\n");
  write("node_modules/tool/inner/.env", "S=1");
  write("node_modules/tool/inner/x.js", "x");
  fs.mkdirSync(join(project, "node_modules/.bin"));
  fs.symlinkSync("../tool/bin.js", join(project, "node_modules/.bin/tool"));
  fs.symlinkSync(join(base, "outside"), join(project, "node_modules/away"));
  fs.mkdirSync(join(project, "node_modules/empty"));
  write(".env", "SECRET=1");
  write("config/local/.env", "SECRET=2");
  write("config/local/settings.json", "{}");
  write("packages/b/node_modules/dep/index.js", "dep");
  write("dist/a.js", "a");
  write("dist/a.map", "m");
  write("own-home/store.sqlite", "store");
  fs.mkdirSync(join(base, "outside"));
  fs.writeFileSync(join(base, "outside/key"), "private");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

function write(path: string, text: string, mode = 0o644): void {
  fs.mkdirSync(join(project, path, ".."), { recursive: true });
  fs.writeFileSync(join(project, path), text, { mode });
}

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: project,
    stdio: "pipe",
  });

async function read(globs: readonly string[], ignored = false, scope?: ReadScope, path = project) {
  const include = ignored || globs.length > 0 ? { ignored, globs } : undefined;
  const { tree, seed } = await seeds.import(path, { include, scope });
  const found = execFileSync("find", [".", "-path", "./.git", "-prune", "-o", "!", "-type", "d", "-printf", "%P\n"], {
    cwd: tree,
    encoding: "utf8",
  });
  return { tree, seed, files: found.trimEnd().split("\n").sort() };
}

const OWN = [".gitignore", "a.txt"];
const MODULES = [
  "node_modules/.bin/tool",
  "node_modules/away",
  "node_modules/tool/bin.js",
  "node_modules/tool/inner/x.js",
];
const NESTED = "packages/b/node_modules/dep/index.js";

describe("what git ignores", () => {
  it("stays home, and what it is is said", async () => {
    const { files, seed } = await read([]);
    expect(files).toEqual(OWN);
    expect(seed.included).toBeNull();
    expect(seed.left_out).toMatchObject({ entries: 6, is_complete: true, secrets: [], secret_count: 0 });
    expect(seed.left_out?.largest[0]).toEqual({
      path: "node_modules/",
      files: 7,
      size_bytes: expect.any(Number) as number,
      is_complete: true,
    });
  });

  it("is counted no further than that is cheap", async () => {
    for (let index = 0; index < 1200; index += 1) write(`dist/${index}.js`, "x");
    const { seed } = await read([]);
    const { largest = [], is_complete } = seed.left_out ?? {};
    expect(is_complete).toBe(false);
    expect(largest[0]).toMatchObject({ path: "dist/", is_complete: false });
    expect(largest[0]?.files).toBeGreaterThan(900);
    expect(largest[0]?.files).toBeLessThanOrEqual(1000);
  });

  it("comes with a glob at any depth, links and modes intact, an empty folder too", async () => {
    const { files, seed, tree } = await read(["node_modules"]);
    expect(files).toEqual([...OWN, ...MODULES, NESTED].sort());
    expect(fs.readlinkSync(join(tree, "node_modules/.bin/tool"))).toBe("../tool/bin.js");
    expect(fs.readlinkSync(join(tree, "node_modules/away"))).toBe(join(base, "outside"));
    expect(fs.statSync(join(tree, "node_modules/tool/bin.js")).mode & 0o777).toBe(0o755);
    expect(fs.statSync(join(tree, "node_modules/empty")).isDirectory()).toBe(true);
    expect(seed.included).toMatchObject({ include: ["node_modules"], files: 5, secrets: [], unmatched: [] });
    expect(seed.left_out?.secrets).toEqual(["node_modules/tool/.npmrc", "node_modules/tool/inner/.env"]);
  });

  it("comes in parts, and a glob that matched nothing is named", async () => {
    const { files, seed } = await read(["dist/*.js", "nothing-like-this"]);
    expect(files).toEqual([...OWN, "dist/a.js"].sort());
    expect(seed.included?.unmatched).toEqual(["nothing-like-this"]);
  });

  it("is another state of the same project, and the same rules give the same tree", async () => {
    const [plain, with1, with2] = [await read([]), await read(["dist"]), await read(["dist"])];
    expect(with1.tree).toBe(with2.tree);
    expect(with1.tree).not.toBe(plain.tree);
  });

  it("is named from the folder that is seeded", async () => {
    const { files } = await read(["/node_modules"], false, undefined, join(project, "packages/b"));
    expect(files).toEqual(["node_modules/dep/index.js"]);
  });
});

describe("G-32: secrets among what git ignores", () => {
  it("stay home with everything else that comes, also those of a checkout below it, and cloche's own home", async () => {
    const { files, seed } = await read(["config/**"], true);
    expect(files).toEqual([...OWN, ...MODULES, NESTED, "config/local/settings.json", "dist/a.js", "dist/a.map"].sort());
    expect(seed.left_out).toMatchObject({
      secret_count: 4,
      secrets: [".env", "config/local/.env", "node_modules/tool/.npmrc", "node_modules/tool/inner/.env"],
    });
  });

  it("come when they are named, and it is said", async () => {
    const { files, seed } = await read(["/.env"]);
    expect(files).toEqual([...OWN, ".env"].sort());
    expect(seed.included).toMatchObject({ files: 1, secrets: [".env"], secret_count: 1 });
  });
});

describe("G-23, G-32: who may read a project gets of what git ignores only what the operator allows", () => {
  const scope = (ignored?: string[]): ReadScope => ({ root: project, kind: "project", ignored });

  it("nothing without a word of the operator", async () => {
    expect((await read(["node_modules", ".env"], true, scope())).files).toEqual(OWN);
    expect((await read(["node_modules", ".env"], true, scope([]))).files).toEqual(OWN);
  });

  it("what both name", async () => {
    expect((await read([".env"], true, scope(["/node_modules", "dist/*.js"]))).files).toEqual(
      [...OWN, ...MODULES, "dist/a.js"].sort(),
    );
    expect((await read(["dist"], false, scope(["node_modules"]))).files).toEqual(OWN);
  });

  it("a secret when both name it", async () => {
    expect((await read([".env"], false, scope(["**"]))).files).toEqual(OWN);
    expect((await read(["**"], true, scope(["/.env"]))).files).toEqual(OWN);
    expect((await read([".env"], false, scope(["/.env"]))).files).toEqual([...OWN, ".env"].sort());
  });

  it("a part of it from the folder that is seeded", async () => {
    const part = join(project, "packages/b");
    expect((await read(["/node_modules"], false, scope(["node_modules"]), part)).files).toEqual([
      "node_modules/dep/index.js",
    ]);
  });
});
