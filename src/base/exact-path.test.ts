import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isInside, namedIn, NotExact, openExact, openExactFolder, openMadeFolder } from "./exact-path.ts";

let base: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "cloche-exact-")));
  fs.mkdirSync(join(base, "real/inner"), { recursive: true });
  fs.writeFileSync(join(base, "real/file"), "f");
  fs.symlinkSync("real", join(base, "link"));
  fs.symlinkSync("nowhere", join(base, "broken"));
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

function opened(open: () => number): number | string {
  try {
    const fd = open();
    fs.closeSync(fd);
    return fd;
  } catch (error) {
    return error instanceof NotExact ? "link" : String((error as NodeJS.ErrnoException).code);
  }
}

it("opens what a path names itself, and nothing that a link on the way leads to", () => {
  expect(opened(() => openExactFolder(join(base, "real/inner")))).toBeTypeOf("number");
  expect(opened(() => openExact(join(base, "real/file"), fs.constants.O_RDONLY))).toBeTypeOf("number");
  expect(opened(() => openExactFolder(join(base, "link/inner")))).toBe("link");
  expect(opened(() => openExact(join(base, "link/file"), fs.constants.O_RDONLY))).toBe("link");
  expect(opened(() => openExactFolder(join(base, "link")))).toBe("ENOTDIR");
  expect(opened(() => openExactFolder(join(base, "none")))).toBe("ENOENT");
});

it("does not wait for a pipe", () => {
  execFileSync("mkfifo", [join(base, "pipe")]);
  expect(opened(() => openExact(join(base, "pipe"), fs.constants.O_RDONLY))).toBeTypeOf("number");
});

it("makes folders where no link is on the way, and nothing beyond one", () => {
  expect(opened(() => openMadeFolder(join(base, "a/b/c")))).toBeTypeOf("number");
  expect(fs.statSync(join(base, "a/b/c")).isDirectory()).toBe(true);
  for (const path of ["link/new", "link/inner", "broken", "broken/new", "real/file/new"]) {
    expect(
      opened(() => openMadeFolder(join(base, path))),
      path,
    ).toBe("link");
  }
  expect(fs.readdirSync(join(base, "real"))).toEqual(["file", "inner"]);
  expect(fs.existsSync(join(base, "nowhere"))).toBe(false);
});

it("names what is in an open folder, also when another has taken its name, and for a process of ours", () => {
  const fd = openExactFolder(join(base, "real"));
  fs.renameSync(join(base, "real"), join(base, "moved"));
  fs.mkdirSync(join(base, "real"));
  execFileSync("touch", [namedIn(fd, "made")]);
  fs.closeSync(fd);
  expect([fs.existsSync(join(base, "moved/made")), fs.existsSync(join(base, "real/made"))]).toEqual([true, false]);
});

it("tells what is inside by whole names", () => {
  expect([isInside("/a", "/a"), isInside("/a/b", "/a"), isInside("/ab", "/a"), isInside("/x", "/")]).toEqual([
    true,
    true,
    false,
    true,
  ]);
});
