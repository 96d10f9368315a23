import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { spreadFolders } from "./spread-folders.ts";

const EXT4 = 0xef53;
const places = [tmpdir(), "/dev/shm"];

it.each(places)(
  "makes folders, spreads what is made in them where the file system can, and is done in %s",
  async (place) => {
    const root = mkdtempSync(join(place, "cloche-spread-"));
    try {
      const folders = [join(root, "new/deep"), join(root, "old")];
      mkdirSync(join(root, "old"), { mode: 0o700 });
      for (let time = 0; time < 2; time++) expect(await spreadFolders(folders)).toBeUndefined();
      expect(folders.map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
      if (statfsSync(root).type === EXT4)
        expect(execFileSync("lsattr", ["-d", ...folders], { encoding: "utf8" })).toMatch(/^\S*T\S* .*\n\S*T\S* .*\n$/);
    } finally {
      rmSync(root, { recursive: true });
    }
  },
);

it("follows no link, and says so", async () => {
  const root = mkdtempSync(join(tmpdir(), "cloche-spread-"));
  try {
    mkdirSync(join(root, "there"));
    symlinkSync("there", join(root, "link"));
    expect(await spreadFolders([join(root, "link")])).toContain("cannot open");
  } finally {
    rmSync(root, { recursive: true });
  }
});
