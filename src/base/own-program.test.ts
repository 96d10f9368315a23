import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isClocheError } from "./errors.ts";
import { ownFile, ownProgram } from "./own-program.ts";

let folder: string;
const find = () => ownFile("tool", pathToFileURL(`${folder}/`));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-own-"));
  writeFileSync(join(folder, "tool"), "as it was built");
  const hash = createHash("sha256").update("as it was built").digest("hex");
  writeFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  another\n${hash}  tool\n`);
});

afterEach(() => rmSync(folder, { recursive: true }));

function refusal(): { code: string; message: string; hint: string } {
  try {
    find();
  } catch (error) {
    if (isClocheError(error)) return error;
    throw error;
  }
  throw new Error("It was taken");
}

describe("a file of the package", () => {
  it("is the one that was built, also when it was replaced by the same", () => {
    expect(find()).toBe(join(folder, "tool"));
    writeFileSync(join(folder, "tool"), "as it was built");
    expect(find()).toBe(join(folder, "tool"));
  });

  it("is refused when it is damaged, also after it was right once", () => {
    find();
    writeFileSync(join(folder, "tool"), "as it was buil!");
    expect(refusal().message).toContain("damaged");
    writeFileSync(join(folder, "tool"), "as it was");
    expect(refusal()).toMatchObject({ code: "BACKEND_UNAVAILABLE", hint: expect.stringContaining("again") as string });
  });

  it("is refused when it has no hash, or is not there", () => {
    writeFileSync(join(folder, "SHA256SUMS"), "");
    expect(refusal().message).toContain("damaged");
    rmSync(join(folder, "SHA256SUMS"));
    expect(refusal().message).toContain("missing");
    rmSync(join(folder, "tool"));
    expect(refusal().message).toContain("missing");
  });

  it("is for this processor: the guest program runs", () => {
    expect(execFileSync(ownProgram(), ["--version"], { encoding: "utf8" })).toMatch(/^cloche-guest \d/);
  });
});
