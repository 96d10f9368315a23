import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MountTable, wayBelow } from "./file-location.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-fl-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Lines of a mount table: id, parent, device, what of it is mounted, and where. */
const table = (...lines: string[]) =>
  new MountTable(lines.map((line) => `${line} rw,relatime - ext4 /dev/x rw\n`).join(""));

describe("MountTable", () => {
  it("finds one place by each link that leads to it, also where it is not there yet", () => {
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    const mounts = new MountTable();
    expect(mounts.locate(join(folder, "link"))).toEqual(mounts.locate(join(folder, "real")));
    expect(mounts.locate(join(folder, "link/a/b"))).toEqual(mounts.locate(join(folder, "real/a/b")));
    expect(wayBelow(mounts.locate(join(folder, "link/a/b")), mounts.locate(folder))).toBe("real/a/b");
  });

  it("follows a link to what is not there yet, and takes one that leads in a circle for what it is", () => {
    symlinkSync("later/on", join(folder, "dangling"));
    symlinkSync("circle", join(folder, "circle"));
    const mounts = new MountTable();
    const way = (name: string) => wayBelow(mounts.locate(join(folder, name, "x")), mounts.locate(folder));
    expect(way("dangling")).toBe("later/on/x");
    expect(way("circle")).toBe("circle/x");
  });

  it("finds one place by each bind mount that leads to it, and sees the uppermost of those at one point", () => {
    const mounts = table(
      "1 0 8:1 / /",
      `2 1 8:1 /people/me ${folder}`,
      `3 1 8:2 / /elsewhere\\040there`,
      `4 2 8:3 /under ${folder}/top`,
      `5 4 8:3 /over ${folder}/top`,
    );
    expect(mounts.locate(join(folder, "a"))).toEqual({ device: "8:1", path: "/people/me/a" });
    expect(mounts.locate("/elsewhere there/a")).toEqual({ device: "8:2", path: "/a" });
    expect(mounts.locate("/elsewhere")).toEqual({ device: "8:1", path: "/elsewhere" });
    expect(mounts.locate(join(folder, "top/a"))).toEqual({ device: "8:3", path: "/over/a" });
  });

  it("does not find what another mount covers", () => {
    const mounts = table("1 0 8:1 / /", `2 1 8:2 / ${folder}/a`, `3 1 8:4 / ${folder}`);
    expect(mounts.locate(join(folder, "a/b"))).toEqual({ device: "8:4", path: "/a/b" });
  });
});

describe("wayBelow()", () => {
  it("knows a place from one whose name only begins alike, and file systems apart", () => {
    const at = (path: string, device = "1") => ({ device, path });
    expect(wayBelow(at("/opt/me"), at("/opt"))).toBe("me");
    expect(wayBelow(at("/opt"), at("/opt"))).toBe("");
    expect(wayBelow(at("/optional"), at("/opt"))).toBeUndefined();
    expect(wayBelow(at("/opt"), at("/opt/me"))).toBeUndefined();
    expect(wayBelow(at("/opt"), at("/"))).toBe("opt");
    expect(wayBelow(at("/opt/me", "2"), at("/opt"))).toBeUndefined();
  });
});
