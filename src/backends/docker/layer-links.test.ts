import { chmodSync, existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linksFolder, makeLinks, removeLinks } from "./layer-links.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-ll-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const spec = { directory: "/home/u/w", baseline: "/cache/seed", layers: ["/home/u/l"] };

describe("links to the layers of a sandbox", () => {
  it("are where the mount table tells nothing of the home", () => {
    const at = { home: folder, env: {}, isRoot: false };
    expect(linksFolder("ws", { ...at, isRoot: true })).toBe("/run/cloche/ws");
    expect(linksFolder("ws", { ...at, env: { XDG_RUNTIME_DIR: "/run/user/7" } })).toBe("/run/user/7/cloche/ws");
  });

  it("G-24 are where nobody can guess in the system's /tmp, at the same place each time", () => {
    const at = { home: folder, env: {}, isRoot: false };
    const other = { ...at, home: mkdtempSync(join(folder, "other-")) };
    expect(linksFolder("ws", at)).toMatch(/^\/tmp\/cloche-links-[0-9a-z]{16}\/ws$/);
    expect(linksFolder("ws", at)).toBe(linksFolder("ws", at));
    expect(linksFolder("ws", at)).not.toBe(linksFolder("ws", other));
  });

  it("G-24 leave a folder alone that is another user's, or where others can write", () => {
    const open = join(folder, "open");
    mkdirSync(join(open, "ws"), { recursive: true });
    chmodSync(open, 0o777);
    removeLinks(join(open, "ws"));
    expect(existsSync(join(open, "ws"))).toBe(true);
  });

  it("lead to the baseline, the layers over it, and the writable one", () => {
    const links = join(folder, "cloche/ws");
    makeLinks(links, spec);
    const targets = ["0", "1", "u", "w"].map((name) => readlinkSync(join(links, name)));
    expect(targets).toEqual(["/cache/seed", "/home/u/l", "/home/u/w/workspace/upper", "/home/u/w/workspace/work"]);
  });

  it("G-21 are not made in a folder that others can write to, or reach through a link: the engine follows them as root", () => {
    const [open, linked, other] = ["open", "linked", "other"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [open, other]) mkdirSync(path);
    chmodSync(open, 0o777);
    symlinkSync(other, linked);
    for (const parent of [open, linked])
      expect(() => makeLinks(join(parent, "ws"), spec)).toThrow(
        expect.objectContaining({ code: "BACKEND_UNAVAILABLE" }),
      );
  });
});
