import { mkdtempSync, mkdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSkills, skillItems } from "./skills.ts";

describe("skillItems()", () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "cloche-skills-")));
    mkdirSync(join(folder, "one/more"), { recursive: true });
    for (const name of ["SKILL.md", "last.md", "more/x"]) writeFileSync(join(folder, "one", name), "text\n");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const failing = { code: "SKILL_INVALID", message: expect.stringContaining('"one"') as unknown };

  /** Reads all of it; after the first item something happens to it. */
  const readWhile = async (happens: () => void) => {
    const [skill] = await findSkills(["one"], folder);
    if (!skill) throw new Error("not found");
    let count = 0;
    for await (const { content } of skillItems(skill)) {
      if (count++ === 0) happens();
      for await (const piece of content ?? []) expect(piece.length).toBeGreaterThan(0);
    }
    return count;
  };

  it("gives all that is in it", async () => {
    expect(await readWhile(() => undefined)).toBe(4);
  });

  it("tells by its name of one that disappears, or becomes too large, while it is copied", async () => {
    await expect(readWhile(() => rmSync(join(folder, "one"), { recursive: true }))).rejects.toMatchObject(failing);
    mkdirSync(join(folder, "one"));
    for (const name of ["a", "b"]) writeFileSync(join(folder, "one", name), "text\n");
    await expect(readWhile(() => truncateSync(join(folder, "one/b"), 300 * 1024 * 1024))).rejects.toMatchObject(
      failing,
    );
  });
});
