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

const read = async (file: string, within?: string) => {
  const given = { name: "T", file_path: join(base, file), ...(within !== undefined && { within: join(base, within) }) };
  return (await readSecrets([given])).secrets.values.get("T");
};

it("G-23: a secret's file that has to be within a folder is really there, whatever links say", async () => {
  expect(await read("open/token", "open")).toBe("a-token");
  for (const file of ["private/token", "open/out/token", "open/link"]) {
    await expect(read(file, "open"), file).rejects.toThrow(/not below/);
    expect(await read(file)).toBe("another");
  }
});
