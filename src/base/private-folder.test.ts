import { chmodSync, chownSync, mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepsNames, makePrivateFolder, requirePrivateFolder } from "./private-folder.ts";
import { removeTree } from "./remove-tree.ts";

/** A user id that belongs to nobody. */
const OTHER = 54_322;
const isRoot = process.getuid?.() === 0;
const modeOf = (path: string) => statSync(path).mode & 0o7777;
const refused = expect.objectContaining({ code: "DAEMON_UNREACHABLE" }) as Error;

let base: string;
beforeEach(() => (base = mkdtempSync(join(tmpdir(), "cl-pf-"))));
afterEach(() => removeTree(base));

/** A folder of that mode in a folder of that mode. */
function nested(outer: number, inner: number): string {
  const path = join(base, "outer/inner");
  mkdirSync(path, { recursive: true });
  chmodSync(path, inner);
  chmodSync(join(base, "outer"), outer);
  return path;
}

describe("makePrivateFolder()", () => {
  it("makes folders that are nobody else's, whatever the umask", () => {
    const before = process.umask(0);
    try {
      makePrivateFolder(join(base, "a/b"));
    } finally {
      process.umask(before);
    }
    expect([modeOf(join(base, "a")), modeOf(join(base, "a/b"))]).toEqual([0o700, 0o700]);
  });

  it("fails where no folder can be made, and does not try for ever", () => {
    expect(() => makePrivateFolder("/proc/nope/home")).toThrow("ENOENT");
    writeFileSync(join(base, "file"), "");
    expect(() => makePrivateFolder(join(base, "file"))).toThrow();
  });

  it("closes its own one that others could look into, or that is empty", () => {
    const looked = nested(0o755, 0o755);
    writeFileSync(join(looked, "file"), "");
    makePrivateFolder(looked);
    expect(modeOf(looked)).toBe(0o700);
    mkdirSync(join(base, "empty"));
    chmodSync(join(base, "empty"), 0o777);
    makePrivateFolder(join(base, "empty"));
    expect(modeOf(join(base, "empty"))).toBe(0o700);
  });

  it("G-24 refuses one with something in it that others could write to, each time, and says how to close it", () => {
    const path = nested(0o755, 0o777);
    writeFileSync(join(path, "planted"), "");
    for (let time = 0; time < 2; time++)
      expect(() => makePrivateFolder(path)).toThrow(
        expect.objectContaining({ hint: `Look through it, then close it: chmod 700 ${path}` }) as Error,
      );
    chmodSync(path, 0o700);
    makePrivateFolder(path);
  });

  it("G-24 makes nothing below a folder that others can write to", () => {
    const path = nested(0o755, 0o777);
    expect(() => makePrivateFolder(join(path, "home"))).toThrow(refused);
    expect(() => statSync(join(path, "home"))).toThrow("ENOENT");
  });
});

describe("requirePrivateFolder()", () => {
  it("takes what is not there, what others can only look at, and a link in places that are trusted", () => {
    requirePrivateFolder(join(base, "none/at/all"));
    const path = nested(0o755, 0o755);
    requirePrivateFolder(path);
    symlinkSync("outer/inner", join(base, "relative"));
    symlinkSync(path, join(base, "absolute"));
    for (const link of ["relative", "absolute"]) requirePrivateFolder(join(base, link));
  });

  it("takes one in a sticky folder, as /tmp is", () => {
    requirePrivateFolder(nested(0o1777, 0o700));
  });

  it.each([
    ["that others can write to", 0o755, 0o777],
    ["in a folder that others can write to", 0o777, 0o700],
    ["in a folder that the own group can read and others write to", 0o752, 0o700],
  ])("G-24 refuses one %s", (_what, outer, inner) => {
    expect(() => requirePrivateFolder(nested(outer, inner))).toThrow(refused);
  });

  it("G-24 refuses a link by way of a folder that others can write to", () => {
    const path = nested(0o777, 0o700);
    symlinkSync(path, join(base, "link"));
    expect(() => requirePrivateFolder(join(base, "link"))).toThrow(refused);
  });

  it.skipIf(!isRoot).each([
    ["itself", "outer/inner"],
    ["the folder that it is in", "outer"],
  ])(
    "G-24 refuses one when %s is another user's, or another group's to write to (owners need root)",
    (_what, whose) => {
      const path = nested(0o755, 0o755);
      chownSync(join(base, whose), OTHER, OTHER);
      expect(() => requirePrivateFolder(path)).toThrow(refused);
      chownSync(join(base, whose), 0, OTHER);
      requirePrivateFolder(path);
      chmodSync(join(base, whose), 0o775);
      expect(() => requirePrivateFolder(path)).toThrow(refused);
    },
  );

  it.skipIf(!isRoot)(
    "G-24 refuses a link that another user has made in a sticky folder (owners need root)",
    async () => {
      const path = nested(0o1777, 0o700);
      const { spawnSync } = await import("node:child_process");
      chmodSync(base, 0o755);
      const link = join(base, "outer/link");
      spawnSync("ln", ["-s", path, link], { uid: OTHER, gid: OTHER });
      expect(() => requirePrivateFolder(link)).toThrow(refused);
    },
  );
});

describe("keepsNames()", () => {
  it("tells where nobody else can rename what is this user's", () => {
    expect(keepsNames(nested(0o755, 0o755))).toBe(true);
    expect(keepsNames(nested(0o755, 0o1777))).toBe(true);
    expect(keepsNames(nested(0o755, 0o777))).toBe(false);
    expect(keepsNames(nested(0o777, 0o755))).toBe(false);
    expect(keepsNames(join(base, "none"))).toBe(false);
  });
});
