import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { programName } from "./program-name.ts";

describe("what to type for this program", () => {
  let folder: string;
  let main: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cloche-name-"));
    for (const name of ["bin", "other", "node_modules/.bin"]) mkdirSync(join(folder, name), { recursive: true });
    main = join(folder, "main.js");
    writeFileSync(main, "#!/usr/bin/env node\n", { mode: 0o755 });
    for (const name of ["bin", "node_modules/.bin"]) symlinkSync(main, join(folder, name, "cloche"));
    writeFileSync(join(folder, "other/cloche"), "", { mode: 0o755 });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const at = (name: string) => join(folder, name);

  it("is its name where a shell finds it by that", () => {
    expect(programName(at("bin/cloche"), `/nowhere:${at("bin")}:${at("other")}`)).toBe("cloche");
    expect(programName(main, at("bin"))).toBe("cloche");
  });

  it("G-145 is its path, and never npx, where the name is not sure to be this program", () => {
    const bin = at("node_modules/.bin/cloche");
    expect(programName(bin, at("node_modules/.bin"))).toBe(bin);
    expect(programName(main, "/usr/bin:/bin")).toBe(main);
    expect(programName(at("bin/cloche"), `${at("other")}:${at("bin")}`)).toBe(at("bin/cloche"));
    for (const relative of ["", ".", "node_modules/.bin"])
      expect(programName(at("bin/cloche"), `${relative}:${at("bin")}`)).toBe(at("bin/cloche"));
  });

  it("says what runs a file that is no program, and quotes what a shell would take apart", () => {
    chmodSync(main, 0o644);
    expect(programName(main, "/usr/bin")).toBe(`node ${main}`);
    writeFileSync(at("my main.js"), "", { mode: 0o755 });
    expect(programName(at("my main.js"), "/usr/bin")).toBe(`'${at("my main.js")}'`);
  });
});
