import { mountsBelow, removeTree, TreeIsMounted } from "./remove-tree.ts";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cloche-remove-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("removeTree()", () => {
  it("removes a folder with all below it", async () => {
    mkdirSync(join(folder, "tree/deep"), { recursive: true });
    writeFileSync(join(folder, "tree/deep/file"), "x");
    await removeTree(join(folder, "tree"));
    expect(existsSync(join(folder, "tree"))).toBe(false);
  });

  it("is content when there is nothing to remove", async () => {
    await expect(removeTree(join(folder, "no/such"))).resolves.toBeUndefined();
    await expect(removeTree(join(folder, "none"))).resolves.toBeUndefined();
  });

  it("removes what a path cannot name: folders nested too deep, and names that are not UTF-8", async () => {
    mkdirSync(join(folder, "tree"));
    const nest =
      'my $n = "d" x 200; for (1..60) { mkdir $n; chdir $n } mkdir "\xff\xfe"; open F, ">", "\xff\xfe/f"; chmod 0, "\xff\xfe"';
    execFileSync("perl", ["-e", nest], { cwd: join(folder, "tree") });
    await removeTree(join(folder, "tree"));
    expect(existsSync(join(folder, "tree"))).toBe(false);
  });

  it("G-16: removes links and keeps what they point to", async () => {
    mkdirSync(join(folder, "kept"));
    writeFileSync(join(folder, "kept/file"), "precious");
    mkdirSync(join(folder, "tree"));
    symlinkSync("../kept", join(folder, "tree/link"));
    symlinkSync("kept", join(folder, "top"));
    await removeTree(join(folder, "tree"));
    await removeTree(join(folder, "top"));
    expect(existsSync(join(folder, "top"))).toBe(false);
    expect(readFileSync(join(folder, "kept/file"), "utf8")).toBe("precious");
  });

  it.skipIf(!isRoot)(
    "G-16: refuses while something is mounted below, also by way of a link (mounting needs root)",
    async () => {
      const mount = join(folder, "tree/a b");
      mkdirSync(mount, { recursive: true });
      writeFileSync(join(folder, "tree/first"), "x");
      symlinkSync(".", join(folder, "way"));
      execFileSync("mount", ["-t", "tmpfs", "tmpfs", mount]);
      try {
        writeFileSync(join(mount, "file"), "precious");
        await expect(removeTree(join(folder, "tree"))).rejects.toThrow(TreeIsMounted);
        await expect(removeTree(join(folder, "way/tree"))).rejects.toThrow(mount);
        await expect(removeTree(mount)).rejects.toThrow(TreeIsMounted);
        expect(readFileSync(join(mount, "file"), "utf8")).toBe("precious");
        expect(existsSync(join(folder, "tree/first"))).toBe(true);
      } finally {
        execFileSync("umount", [mount]);
      }
      await removeTree(join(folder, "tree"));
      expect(existsSync(join(folder, "tree"))).toBe(false);
    },
  );
});

describe("mountsBelow()", () => {
  const mountinfo = ["/a", "/a/b\\040c", "/ab", "/"]
    .map((path, id) => `${id} 0 0:1 / ${path} rw - tmpfs tmpfs rw\n`)
    .join("");

  it("finds mounts at and below a path and no neighbour with a longer name", () => {
    expect(mountsBelow("/a", mountinfo)).toEqual(["/a", "/a/b c"]);
    expect(mountsBelow("/a/b", mountinfo)).toEqual([]);
  });
});
