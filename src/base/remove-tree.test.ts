import { ownProgram } from "./own-program.ts";
import { mountsBelow, removeTree, TreeIsForeign, TreeIsMounted } from "./remove-tree.ts";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** A user id that belongs to nobody. */
const OTHER = 54_322;
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

  it("removes what is nested deeper than a process has descriptors, and folders that are closed to their owner", async () => {
    mkdirSync(join(folder, "tree"));
    const nest = `for my $side (1..2) { for (1..1500) { mkdir "d"; chdir "d" or die; open F, ">", "f" } for (1..1500) { chdir ".." }
      rename "d", "side$side"; } mkdir "closed"; mkdir "closed/inner"; open F, ">", "closed/inner/f"; chmod 0, "closed/inner"; chmod 0, "closed"`;
    execFileSync("perl", ["-e", nest], { cwd: join(folder, "tree") });
    await removeTree(join(folder, "tree"));
    expect(existsSync(join(folder, "tree"))).toBe(false);
  });

  it.skipIf(!isRoot)("removes the same for an ordinary user (the user needs root)", () => {
    chownSync(folder, OTHER, OTHER);
    chmodSync(folder, 0o700);
    // The place of the checkout may be closed to the user.
    const program = `cp ${ownProgram()} ${folder}/remove && chown ${OTHER} ${folder}/remove`;
    execFileSync("sh", ["-c", program]);
    const script = `set -e; cd ${folder}; mkdir -p tree/shut/deep tree/read; touch tree/shut/deep/f tree/read/f; chmod 0 tree/shut/deep; chmod 0 tree/shut; chmod 500 tree/read
      ulimit -n 120; ./remove remove ${folder} tree; ls`;
    const said = execFileSync("sh", ["-c", script], { uid: OTHER, gid: OTHER, encoding: "utf8" });
    chownSync(folder, 0, 0);
    expect(said).toBe("remove\n");
  });

  it.skipIf(!isRoot)(
    "G-24 takes nothing that is another user's where others get to, and everything where they do not (owners need root)",
    async () => {
      const [open, closed] = [join(folder, "open"), join(folder, "closed")];
      chmodSync(folder, 0o755);
      for (const path of [open, closed]) mkdirSync(join(path, "theirs"), { recursive: true });
      chmodSync(closed, 0o700);
      for (const path of [open, closed]) chownSync(join(path, "theirs"), OTHER, OTHER);
      writeFileSync(join(open, "file"), "");
      chownSync(join(open, "file"), OTHER, OTHER);
      for (const name of ["theirs", "file"]) await expect(removeTree(join(open, name))).rejects.toThrow(TreeIsForeign);
      await removeTree(join(closed, "theirs"));
      expect(existsSync(join(closed, "theirs"))).toBe(false);
    },
  );

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
