import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readSecrets } from "./secrets.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "cloche-secret-files-")));
  for (const folder of ["open", "private"]) mkdirSync(join(base, folder));
  writeFileSync(join(base, "open/token"), "a-token\n");
  writeFileSync(join(base, "private/token"), "another\n");
  symlinkSync("../private", join(base, "open/out"));
  symlinkSync("../private/token", join(base, "open/link"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const read = (file: string, within?: string) => {
  const given = { name: "T", file_path: join(base, file), ...(within !== undefined && { within: join(base, within) }) };
  return readSecrets([given]).secrets.values.get("T");
};

it("G-23: a secret's file that has to be within a folder is really there, whatever links say", () => {
  expect(read("open/token", "open")).toBe("a-token");
  for (const file of ["private/token", "open/out/token", "open/link"]) {
    expect(() => read(file, "open"), file).toThrow(/not below/);
    expect(read(file)).toBe("another");
  }
});

it("what is no file, or longer than a secret, is refused and not waited for", () => {
  execFileSync("mkfifo", [join(base, "pipe")]);
  expect(() => read("pipe")).toThrow(/no file/);
  expect(() => read("open")).toThrow(/Cannot read secret "T"/);
  writeFileSync(join(base, "long"), "x".repeat(70_000));
  expect(() => read("long")).toThrow(/has 6\d,?\d{3} bytes/);
});
