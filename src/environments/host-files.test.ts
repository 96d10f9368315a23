import { listHostEntries, readHostFile, type KnownFolders } from "./host-files.ts";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

let etc: string;
let known: KnownFolders;

beforeEach(() => {
  etc = mkdtempSync(join(tmpdir(), "cloche-etc-"));
  known = new Map();
  mkdirSync(join(etc, "alternatives"), { mode: 0o755 });
  symlinkSync("/usr/bin/vim", join(etc, "alternatives/editor"));
  symlinkSync("/usr/bin/less", join(etc, "alternatives/pager"));
  writeFileSync(join(etc, "alternatives/README"), "one", { mode: 0o644 });
  // As it is when the folder was made long ago.
  vi.setSystemTime(Date.now() + 60_000);
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(etc, { recursive: true, force: true });
});

const list = (folders?: KnownFolders) => listHostEntries(etc, ["alternatives"], folders);

describe("a folder of the host that was seen before", () => {
  it("gives the same as at the first look", () => {
    const first = list(known);
    expect(known.get("alternatives")?.links.size).toBe(2);
    expect(list(known)).toEqual(first);
    expect(list()).toEqual(first);
  });

  it("is read again when a link in it was replaced", () => {
    list(known);
    symlinkSync("/usr/bin/nano", join(etc, "alternatives/new"));
    renameSync(join(etc, "alternatives/new"), join(etc, "alternatives/editor"));
    expect(list(known).find(({ path }) => path === "alternatives/editor")?.target).toBe("/usr/bin/nano");
    expect(list(known)).toEqual(list());
  });

  it("still tells a file that was edited in place", () => {
    const before = list(known);
    writeFileSync(join(etc, "alternatives/README"), "another");
    const stamps = (entries: typeof before) => entries.find(({ path }) => path.endsWith("README"))?.stamp;
    expect(stamps(list(known))).not.toBe(stamps(before));
  });

  it("is not remembered when it has just changed", () => {
    vi.useRealTimers();
    list(known);
    expect(known.size).toBe(0);
  });
});

describe("what not everybody on the host may read", () => {
  it("G-01 G-02 is neither listed nor read, also when it was swapped in after the listing", async () => {
    writeFileSync(join(etc, "alternatives/own"), "secret", { mode: 0o600 });
    execFileSync("mkfifo", ["-m", "644", join(etc, "alternatives/pipe")]);
    writeFileSync(join(etc, "open"), "elsewhere", { mode: 0o644 });
    symlinkSync("../open", join(etc, "alternatives/link"));
    expect(list().flatMap(({ path, kind }) => (kind === "file" ? [path] : []))).toEqual(["alternatives/README"]);
    for (const name of ["own", "pipe", "link"])
      expect(await readHostFile(etc, `alternatives/${name}`), name).toBeUndefined();
    expect(Buffer.from((await readHostFile(etc, "alternatives/README")) ?? []).toString()).toBe("one");
  });
});
