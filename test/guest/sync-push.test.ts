import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { currentIdMap } from "../../src/base/id-map.ts";
import { silentLog } from "../../src/base/log.ts";
import { createSeeds } from "../../src/seeds/create-seeds.ts";
import { pushSync } from "../../src/workspaces/push-sync.ts";
import { GuestWorkspace } from "./guest-workspace.ts";
import { AGENT } from "./real-guest.ts";

let workspace: GuestWorkspace;
let base: string;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "cloche-push-"));
  workspace = await GuestWorkspace.start((baseline) => {
    for (const name of ["a.txt", "stay.txt"]) {
      writeFileSync(join(baseline, name), "old\n");
      chownSync(join(baseline, name), AGENT.uid, AGENT.gid);
    }
    symlinkSync("/tmp", join(baseline, "out"));
  });
});
afterEach(async () => {
  await workspace[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});

const BEFORE = { "a.txt": "644 old\n", out: "-> /tmp", "stay.txt": "644 old\n" };
const PUSHED = {
  "a.txt": "644 new\n",
  "run.sh": "755 x\n",
  sub: "755 /",
  "sub/l": "-> ../a.txt",
  "sub/b\ufffd": "644 b\n",
};

function push(sourcePath: string, dest?: string, signal?: AbortSignal) {
  const seeds = createSeeds({ cachePath: join(base, "cache"), idMap: currentIdMap(), log: silentLog });
  const input = { workspace_id: workspace.workspaceId, source_path: sourcePath, dest };
  return pushSync({ home: tmpdir(), seeds, events: workspace.events }, workspace, input, { signal });
}

function project(): string {
  const folder = join(base, "project");
  mkdirSync(join(folder, "sub"), { recursive: true, mode: 0o755 });
  writeFileSync(join(folder, "a.txt"), "new\n");
  writeFileSync(Buffer.concat([Buffer.from(join(folder, "sub/b")), Buffer.from([0xff])]), "b\n");
  writeFileSync(join(folder, "run.sh"), "x\n");
  chmodSync(join(folder, "run.sh"), 0o755);
  symlinkSync("../a.txt", join(folder, "sub/l"));
  return folder;
}

const below = (folder: string, tree: Record<string, string>) =>
  Object.fromEntries(Object.entries(tree).map(([path, what]) => [`${folder}/${path}`, what]));

describe("pushSync()", () => {
  it("brings a folder in over what is there", async () => {
    const source = project();
    const result = await push(source);
    const pushed = { source_path: source, dest: "/workspace", files: 4 };
    expect(result).toEqual({ workspace_id: "ws-test", ...pushed, left_out: null });
    expect(workspace.events.told).toMatchObject([{ kind: "sync.pushed", ...pushed }]);
    expect(await workspace.tree()).toEqual({ ...BEFORE, ...PUSHED });
    const entry = await (await workspace.files()).stat("workspace", "a.txt");
    expect(entry.mode).toBe(0o644);
  });

  it("makes the destination, and unpacks an archive there", async () => {
    const source = project();
    const archive = join(base, "push.tar.gz");
    execFileSync("tar", ["-czf", archive, "-C", source, "."]);
    expect(await push(archive, "/workspace/vendor/pushed")).toMatchObject({
      dest: "/workspace/vendor/pushed",
      files: 4,
    });
    expect(await workspace.tree()).toEqual({
      ...BEFORE,
      vendor: "755 /",
      "vendor/pushed": "755 /",
      ...below("vendor/pushed", PUSHED),
    });
  });

  it("takes of a git project what is tracked or not ignored, and no history", async () => {
    const source = project();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: source });
    git("init", "--quiet");
    writeFileSync(join(source, ".gitignore"), "ignored\n");
    writeFileSync(join(source, "ignored"), "i\n");
    git("add", "a.txt");
    git("commit", "--quiet", "-m", "first");
    expect(await push(source)).toMatchObject({ files: 5, left_out: { entries: 1 } });
    expect(await workspace.tree()).toEqual({ ...BEFORE, ...PUSHED, ".gitignore": "644 ignored\n" });
  });

  it.each([
    ["../escape", "PATH_OUTSIDE_WORKSPACE"],
    ["/etc", "PATH_OUTSIDE_WORKSPACE"],
    ["out/escape", "PATH_OUTSIDE_WORKSPACE"],
    ["out", "FILE_WRONG_TYPE"],
    ["a.txt", "FILE_WRONG_TYPE"],
    ["a.txt/below", "FILE_WRONG_TYPE"],
  ])("refuses %s as destination", async (dest, code) => {
    await expect(push(project(), dest)).rejects.toMatchObject({ code });
    expect(await workspace.tree()).toEqual(BEFORE);
  });

  it("writes nothing when a member cannot be placed, the source is missing, or the caller goes away", async () => {
    const source = project();
    mkdirSync(join(source, "stay.txt"));
    writeFileSync(join(source, "stay.txt/in-the-way"), "x");
    await expect(push(source)).rejects.toMatchObject({ code: "FILE_WRONG_TYPE" });
    await expect(push(join(base, "nowhere"))).rejects.toMatchObject({ code: "SEED_NOT_FOUND" });
    await expect(push(source, "new", AbortSignal.abort())).rejects.toThrow();
    expect(await workspace.tree()).toEqual(BEFORE);
  });
});
