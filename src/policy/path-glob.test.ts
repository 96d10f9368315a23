import { describe, expect, it } from "vitest";
import { globProblem, PathGlob } from "./path-glob.ts";

const cover = (glob: string, path: string) => new PathGlob(glob).covers(path);

describe("a glob", () => {
  it.each([
    ["node_modules", "node_modules", "all"],
    ["node_modules", "packages/a/node_modules", "all"],
    ["node_modules/", "packages/a/node_modules", "all"],
    ["node_modules", "node_modules/.bin/tsc", "all"],
    ["/node_modules", "packages/a/node_modules", "none"],
    ["node_modules", "packages", "below"],
    ["dist/*.js", "dist", "below"],
    ["dist/*.js", "dist/a.js", "all"],
    ["dist/*.js", "dist/sub/a.js", "none"],
    ["dist/**/*.js", "dist/sub/deep/a.js", "all"],
    ["dist/**/*.js", "dist/a.js", "all"],
    ["dist/**", "dist/sub", "all"],
    ["dist/**", "other", "none"],
    ["packages/*/node_modules", "packages/a", "below"],
    ["packages/*/node_modules", "packages/a/node_modules/x/y", "all"],
    ["packages/*/node_modules", "packages/a/b/node_modules", "none"],
    ["/[id].tsx", "i.tsx", "none"],
    ["[id].tsx", "pages/[id].tsx", "all"],
    ["/?.txt", "ab.txt", "none"],
    ["./dist", "dist/a", "all"],
    ["**", "anything/at/all", "all"],
    ["a*b*c", "aXbYc", "all"],
    ["/a*b*c", "aXbY", "none"],
  ])("%s and %s: %s", (glob, path, expected) => {
    expect(cover(glob, path)).toBe(expected);
  });

  it("with many wildcards is no riddle", () => {
    expect(cover(`/${"*a".repeat(100)}b`, "a".repeat(255))).toBe("none");
    expect(cover(`${"**/a/".repeat(100)}b`, "a/".repeat(1000).slice(0, -1))).toBe("below");
  });

  it.each(["", "/", "./", "../x", "a/../b", "a\0b"])("%j is no glob", (text) => {
    expect(globProblem(text)).toBeDefined();
  });
});
