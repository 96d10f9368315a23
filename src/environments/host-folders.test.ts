import { hostFolders } from "./host-folders.ts";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "cl-hf-")));
  for (const path of ["usr/local/etc", "usr/games", "usr/sbin", "opt", "home/me", "etc"])
    mkdirSync(join(root, path), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const ALWAYS = ["/usr/etc", "/usr/local/etc"];
const show = (...hidden: string[]) => hostFolders(root, ["/usr", "/opt"], hidden);
const account = (uid: number, home: string, shell = "/bin/bash") =>
  writeFileSync(join(root, "etc/passwd"), `somebody:x:${uid}:${uid}::${home}:${shell}\n`, { flag: "a" });

describe("hostFolders()", () => {
  it("G-01 leaves out a folder that is, or lies in, what must not show, and covers what lies below one", () => {
    expect(show("/home/me")).toEqual({ shown: ["/usr", "/opt"], covered: ALWAYS });
    expect(show("/opt").shown).toEqual(["/usr"]);
    expect(show("/optional").shown).toEqual(["/usr", "/opt"]);
    expect(show("/opt/people/me", "/usr/local/cloche")).toEqual({
      shown: ["/usr", "/opt"],
      covered: ["/opt/people/me", "/usr/etc", "/usr/local/cloche", "/usr/local/etc"],
    });
  });

  it("G-01 goes by where things really are: a home may be a link into a folder, and a folder one into a home", () => {
    mkdirSync(join(root, "usr/local/people/me"), { recursive: true });
    rmSync(join(root, "home/me"), { recursive: true });
    symlinkSync(join(root, "usr/local/people/me"), join(root, "home/me"));
    expect(show("/home/me/.cloche").covered).toContain("/usr/local/people/me/.cloche");
    rmSync(join(root, "opt"), { recursive: true });
    mkdirSync(join(root, "usr/local/people/me/opt"));
    symlinkSync("home/me/opt", join(root, "opt"));
    expect(show("/home/me").shown).toEqual(["/usr"]);
  });

  it("G-01 covers the home of every account, also one that is not there yet, and finds it at each use", () => {
    account(0, "/usr/root");
    account(1001, "/usr/local/home/ann");
    account(998, "/opt/service", "/usr/sbin/nologin");
    expect(show().covered).toEqual(["/opt/service", "/usr/etc", "/usr/local/etc", "/usr/local/home/ann", "/usr/root"]);
    account(1002, "/opt/bob");
    expect(show().covered).toContain("/opt/bob");
    account(1003, "/opt");
    expect(show().shown).toEqual(["/usr"]);
  });

  it("is not talked out of the system by accounts that are at home in it", () => {
    for (const home of ["/", "/usr", "/bin", "/usr/sbin", "/usr/games", "/nonexistent", "/var/lib/x", "/opt", ""])
      account(5, home, "/usr/sbin/nologin");
    account(65_534, "/", "/usr/sbin/nologin");
    account(1005, "/");
    expect(show("/")).toEqual({ shown: ["/usr", "/opt"], covered: ALWAYS });
  });
});
