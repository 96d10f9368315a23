import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentProgram } from "../model/provider.ts";
import { findHostProgram } from "./host-program.ts";

let root: string;
beforeEach(() => (root = realpathSync(mkdtempSync(join(tmpdir(), "cloche-programs-")))));
afterEach(() => rmSync(root, { recursive: true }));

const PACKAGE = {
  name: "@vendor/tool",
  version: "1.0.0",
  integrity: "",
  file: "vendor/bin/tool",
  installed_as: "@vendor/tool-linux",
};
const PROGRAM: AgentProgram = {
  command: "tool",
  packages: { x64: PACKAGE, arm64: PACKAGE },
  places: ["~/.tool/tool"],
  interpreter: null,
};
const BINARY = "\x7fELF and so on";

function put(path: string, text: string, mode = 0o755): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, "latin1");
  chmodSync(file, mode);
  return file;
}

function link(path: string, to: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(to, join(root, path));
}

const find = (path = "bin") =>
  findHostProgram(
    PROGRAM,
    path
      .split(":")
      .map((one) => join(root, one))
      .join(":"),
    join(root, "home"),
  );

describe("findHostProgram()", () => {
  it("takes a binary alone, whatever lies beside it, and its version where its name tells", () => {
    link("bin/tool", put("home/.local/share/tool/versions/2.3.4", BINARY));
    expect(find()).toEqual({
      path: join(root, "bin/tool"),
      files: { path: join(root, "home/.local/share/tool/versions/2.3.4"), file: "2.3.4" },
      version: "2.3.4",
    });
  });

  it("takes the whole package that a file is of", () => {
    const file = put("lib/node_modules/@vendor/tool-linux/vendor/bin/tool", BINARY);
    put("lib/node_modules/@vendor/tool-linux/package.json", '{"name": "@vendor/tool", "version": "1.2.0-linux"}');
    link("bin/tool", file);
    const folder = join(root, "lib/node_modules/@vendor/tool-linux");
    expect(find()).toMatchObject({ files: { path: folder, file: "vendor/bin/tool" }, version: "1.2.0-linux" });
  });

  it.each(["lib/node_modules/@vendor/tool/node_modules/@vendor/tool-linux", "lib/node_modules/@vendor/tool-linux"])(
    "finds what a wrapper is for, in %s",
    (folder) => {
      link("bin/tool", put("lib/node_modules/@vendor/tool/bin/tool.js", "#!/usr/bin/env node\n"));
      put(`${folder}/vendor/bin/tool`, BINARY);
      put(`${folder}/package.json`, '{"name": "@vendor/tool", "version": "1.2.0"}');
      expect(find()?.files).toEqual({ path: join(root, folder), file: "vendor/bin/tool" });
    },
  );

  it("looks at the places of its provider last, and on in the PATH past what it cannot use", () => {
    const own = put("home/.tool/tool", BINARY);
    expect(find()?.path).toBe(own);
    put("bin/tool", "#!/bin/sh\n");
    put("later/tool", BINARY, 0o644);
    expect(find("bin:later")?.path).toBe(own);
    const there = put("last/tool", BINARY);
    expect(find("bin:later:last")?.path).toBe(there);
  });

  it("does not look in folders that are relative, which are others for the daemon", () => {
    expect(findHostProgram(PROGRAM, `.:bin:::${root}/none`, join(root, "home"))).toBeUndefined();
  });
});
