import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostGit } from "../../../test/helpers/git-server.ts";
import { GitDoorBed } from "../../../test/helpers/git-door.ts";

describe("a git door", () => {
  let bed: GitDoorBed;

  beforeAll(async () => {
    bed = await GitDoorBed.start({
      repos: { app: {}, open: { rules: { tags: "allow", force: "allow", delete: "allow" } } },
    });
  });

  afterAll(async () => {
    await bed[Symbol.asyncDispose]();
  });

  it("gives clones, whole, shallow and partial, in every version of the protocol", async () => {
    for (const words of [
      [],
      ["--depth", "1"],
      ["--filter=blob:none"],
      ["-c", "protocol.version=0"],
      ["-c", "protocol.version=1"],
    ]) {
      const folder = await bed.clone("app", ...words);
      expect(await bed.must(folder, "show", "HEAD:README.md")).toBe("# app");
      expect(await bed.must(folder, "branch", "--show-current")).toBe("main");
    }
  });

  it("takes a push, and shows it to the next who fetches", async () => {
    const folder = await bed.clone();
    const id = await bed.commit(folder, { "one.txt": "one\n" });
    expect(await bed.must(folder, "push", "origin", "HEAD:refs/heads/agent/one")).toContain("[new branch]");
    expect(bed.refs()["refs/heads/agent/one"]).toBe(id);
    expect(bed.events.at(-1)).toEqual({ kind: "push.accepted", repo: "app", refs: ["refs/heads/agent/one"] });
    const other = await bed.clone();
    expect(await bed.must(other, "rev-parse", "origin/agent/one")).toBe(id);
  });

  it("takes a push of a shallow clone, and of a partial one", async () => {
    const path = bed.bare("app");
    for (const message of ["two", "three"])
      hostGit(path, [
        "update-ref",
        "refs/heads/main",
        hostGit(path, ["commit-tree", "-p", "main", "-m", message, "main^{tree}"]),
      ]);
    for (const [at, words] of [
      ["--depth", "1"],
      ["--filter=tree:0"],
      ["--filter=blob:none", "--depth", "2"],
    ].entries()) {
      const folder = await bed.clone("app", ...words);
      const id = await bed.commit(folder, { [`shallow-${at}.txt`]: "mine\n" });
      await bed.must(folder, "push", "-q", "origin", `HEAD:refs/heads/agent/shallow-${at}`);
      expect(bed.refs()[`refs/heads/agent/shallow-${at}`]).toBe(id);
      expect(hostGit(path, ["rev-list", "--count", id])).toBe("4");
    }
    hostGit(path, ["fsck", "--strict"]);
  });

  it("shows what the upstream got meanwhile", async () => {
    const folder = await bed.clone();
    const path = bed.bare("app");
    const id = hostGit(path, ["commit-tree", "-p", "main", "-m", "made on the host", "main^{tree}"]);
    hostGit(path, ["update-ref", "refs/heads/from-host", id]);
    await bed.must(folder, "fetch", "-q", "origin");
    expect(await bed.must(folder, "rev-parse", "origin/from-host")).toBe(id);
  });

  it("does what the rules allow: force, tags, deletion, several refs at once, options", async () => {
    const folder = await bed.clone("open");
    await bed.commit(folder, { f: "1\n" });
    await bed.must(folder, "push", "-q", "origin", "HEAD:agent/x");
    await bed.must(folder, "commit", "-q", "--amend", "-m", "another");
    await bed.must(folder, "push", "-q", "--force", "origin", "HEAD:agent/x");
    await bed.must(folder, "tag", "-a", "v1", "-m", "the first");
    await bed.must(folder, "push", "-q", "--atomic", "-o", "ci.skip", "origin", "v1", "HEAD:agent/gone");
    await bed.must(folder, "push", "-q", "origin", "--delete", "agent/gone");
    const { "refs/heads/main": main, ...rest } = bed.refs("open");
    expect(main).toBeDefined();
    expect(rest).toEqual({
      "refs/heads/agent/x": await bed.must(folder, "rev-parse", "HEAD"),
      "refs/tags/v1": await bed.must(folder, "rev-parse", "v1"),
    });
  });

  it("knows no repository but those of its order, and says which these are (G-88)", async () => {
    for (const name of ["gamma", "app/open", "%61pp"]) {
      const { code, out } = await bed.git(bed.folder, "ls-remote", `http://127.0.0.1:${bed.port}/${name}.git`);
      expect(code).not.toBe(0);
      expect(out).toContain("remote: cloche: the bottle has no such repository; declared are: app, open");
    }
  });

  it("tells of an upstream that moved on as git does", async () => {
    const folder = await bed.clone("open");
    await bed.must(folder, "push", "-q", "origin", "HEAD:moving");
    const path = bed.bare("open");
    hostGit(path, [
      "update-ref",
      "refs/heads/moving",
      hostGit(path, ["commit-tree", "-p", "moving", "-m", "on", "main^{tree}"]),
    ]);
    await bed.commit(folder, { g: "2\n" });
    const { code, out } = await bed.git(folder, "push", "origin", "HEAD:moving");
    expect(code).not.toBe(0);
    expect(out).toMatch(/\[rejected\].*fetch first/);
  });

  it("sends no LFS, and says so", async () => {
    const answer = await fetch(`${bed.url()}/info/lfs/objects/batch`, { method: "POST", body: "{}" });
    expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
      501,
      expect.stringContaining("LFS"),
    ]);
  });
});
