import { chmodSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linksFolder, makeLinks } from "./layer-links.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cl-ll-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const spec = { directory: "/home/u/w", baseline: "/cache/seed", layers: ["/home/u/l"] };

describe("links to the layers of a sandbox", () => {
  it("are where the mount table tells nothing of the home", () => {
    expect(linksFolder("ws", {}, true)).toBe("/run/cloche/ws");
    expect(linksFolder("ws", { XDG_RUNTIME_DIR: "/run/user/7" }, false)).toBe("/run/user/7/cloche/ws");
    expect(linksFolder("ws", {}, false)).toBe(`/tmp/cloche-${process.getuid?.()}/ws`);
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
