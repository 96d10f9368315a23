import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readPlainFile } from "./read-plain-file.ts";

let base: string;
beforeEach(() => (base = mkdtempSync(join(tmpdir(), "cloche-plain-"))));
afterEach(() => rmSync(base, { recursive: true }));

it("G-10 reads files and links to them, and waits for nothing else", () => {
  const at = (name: string) => join(base, name);
  writeFileSync(at("file"), "text");
  symlinkSync("file", at("link"));
  execFileSync("mkfifo", [at("pipe")]);
  symlinkSync("pipe", at("link-to-pipe"));
  for (const name of ["file", "link"]) expect(readPlainFile(at(name), 4).toString()).toBe("text");
  expect(() => readPlainFile(at("file"), 3)).toThrow("more than 3 bytes");
  for (const name of ["pipe", "link-to-pipe"]) expect(() => readPlainFile(at(name), 9)).toThrow("no ordinary file");
  expect(() => readPlainFile("/dev/zero", 9)).toThrow("no ordinary file");
  expect(() => readPlainFile(base, 9)).toThrow("a folder");
  expect(() => readPlainFile(at("missing"), 9)).toThrow("ENOENT");
});
