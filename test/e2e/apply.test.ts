import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { git } from "../helpers/git-project.ts";
import { Installation, runProcess } from "../helpers/installation.ts";

describe("the way home", () => {
  let at: Installation;
  let agents: BottledAgents;
  let project: string;
  let count = 0;
  const sdk = () => at.sdk;
  const read = (path: string) => readFileSync(join(project, path), "utf8");
  const write = (path: string, text: string) => writeFileSync(join(project, path), text);
  const status = () => git(project, "status", "--porcelain");
  const ten = (...changed: [number, string][]) =>
    Array.from({ length: 10 }, (_, at) => `${new Map(changed).get(at + 1) ?? at + 1}\n`).join("");

  beforeAll(() => {
    at = new Installation("w");
    agents = new BottledAgents(at);
  });
  afterAll(async () => {
    await at[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    project = at.path(`project${count++}`);
    mkdirSync(join(project, "src"), { recursive: true });
    git(project, "init", "-q", "-b", "main", ".");
    write("ten", ten());
    write("old", "old\n");
    write("src/run.sh", "echo hi\n");
    write(".gitignore", "*.log\n.env\n");
    git(project, "add", ".");
    git(project, "commit", "-q", "-m", "first");
  });

  /** A run that did the script in a copy of the project, and ended well. */
  const did = async (script: string) => {
    agents.agent("worker", script);
    const { identity, end, stderr } = await agents.run("worker", { copy_cwd: true, project_path: project });
    expect(stderr).toBe("");
    return { identity, end };
  };
  const clean = () => sdk().cleanUp({ all: true });

  it("is open after a run that ended well, as long as there is something to bring home", async () => {
    const nothing = await did("git status >/dev/null; echo x > a.log");
    expect(nothing.end).toMatchObject({ exit_code: 0, kept: false, has_changes: false });
    expect((await sdk().listWorkspaces()).count).toBe(0);
    const { identity, end } = await did("echo new > new");
    expect(end).toMatchObject({ exit_code: 0, kept: false, has_changes: true });
    expect(agents.states()).toEqual([]);
    expect(await sdk().statusWorkspace(identity)).toMatchObject({ state: "stopped", keep: false, secrets: [] });
    expect(await sdk().stopRun(identity)).toMatchObject({ exit_code: 0, has_changes: true });
    const waits = [{ kind: "workspace", identity, reason: "its changes can be brought home" }];
    expect((await sdk().cleanUp({})).kept).toMatchObject(waits);
    // Whoever has started it to look loses nothing by it.
    await sdk().startWorkspace(identity);
    expect((await sdk().cleanUp({})).kept).toMatchObject(waits);
    expect(await sdk().applyRun(identity)).toMatchObject({ applied: true, identity, checkout_path: project });
    expect(read("new")).toBe("new\n");
    expect((await clean()).removed).toHaveLength(1);
    await expect(sdk().applyRun(identity)).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
  });

  it("brings every kind of change into the files, uncommitted, and merges what fits", async () => {
    const script = [
      "sed -i s/^9$/nine/ ten; rm old; mkdir -p deep/er; printf '\\0\\1\\377' > deep/er/bin",
      "chmod +x src/run.sh; ln -s src/run.sh run; echo ignored > x.log; git add -A; git -c user.name=a -c user.email=b commit -qm agent",
    ].join("; ");
    const { identity } = await did(script);
    write("ten", ten([2, "two"]));
    git(project, "commit", "-q", "-am", "second");
    const head = git(project, "rev-parse", "HEAD");
    const plan = await sdk().applyRun(identity, { dry_run: true });
    expect(plan).toMatchObject({ applied: false, as: "patch", conflict_count: 0, ignored_count: 1, left_out: [] });
    expect(plan.entries.map(({ path, status, outcome }) => [path, status, outcome]).toSorted()).toEqual([
      ["deep/er/bin", "added", "applies"],
      ["old", "deleted", "applies"],
      ["run", "added", "applies"],
      ["src/run.sh", "modified", "applies"],
      ["ten", "modified", "merges"],
    ]);
    expect(status()).toBe("");
    expect(await sdk().applyRun(identity)).toMatchObject({ applied: true });
    expect(read("ten")).toBe(ten([2, "two"], [9, "nine"]));
    expect(readFileSync(join(project, "deep/er/bin"))).toEqual(Buffer.from([0, 1, 255]));
    expect(lstatSync(join(project, "src/run.sh")).mode & 0o111).toBe(0o111);
    expect(lstatSync(join(project, "run")).isSymbolicLink()).toBe(true);
    expect(existsSync(join(project, "old"))).toBe(false);
    expect(git(project, "rev-parse", "HEAD")).toBe(head);
    expect(readdirSync(project).filter((name) => name.startsWith(".cloche"))).toEqual([]);
    // Asked again, all of it is there.
    const again = await sdk().applyRun(identity);
    expect([again.applied, again.conflict_count]).toEqual([false, 0]);
    const told = await at.cli(["events", identity, "--kind", "changes.applied"]);
    expect(told.stdout).toContain(`5 files to ${project}`);
    await clean();
  });

  it("makes a branch beside all that is checked out, and a worktree of it", async () => {
    const { identity } = await did('echo new > "a \\"b\\"\n c"; sed -i s/1/one/ ten; rm old');
    write("ten", "mine, uncommitted\n");
    const before = [status(), git(project, "rev-parse", "HEAD")];
    const made = await sdk().applyRun(identity, { as: "branch", message: "By the agent\n" });
    expect(made).toMatchObject({ applied: true, branch: `cloche/${identity}`, base_commit: before[1]?.trim() });
    expect([status(), git(project, "rev-parse", "HEAD")]).toEqual(before);
    const branch = made.branch ?? "";
    expect(git(project, "rev-parse", branch).trim()).toBe(made.commit);
    expect(git(project, "log", "--format=%s %P", `${branch}~..${branch}`)).toBe(`By the agent ${before[1] ?? ""}`);
    expect(git(project, "diff", "--name-status", "-z", `${branch}~`, branch).split("\0")).toEqual([
      ...["A", 'a "b"\n c', "D", "old", "M", "ten", ""],
    ]);
    expect(git(project, "for-each-ref", "--format=%(refname)")).toBe(`refs/heads/${branch}\nrefs/heads/main\n`);
    await expect(sdk().applyRun(identity, { as: "branch" })).rejects.toMatchObject({ code: "BRANCH_EXISTS" });
    const bad = sdk().applyRun(identity, { as: "branch", branch: "-d..x" });
    await expect(bad).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const folder = at.path("tree");
    const tree = await sdk().applyRun(identity, { as: "worktree", branch: "second", output_path: folder });
    expect(tree).toMatchObject({ worktree_path: folder, branch: "second" });
    expect(readFileSync(join(folder, "ten"), "utf8")).toBe(ten([1, "one"], [10, "one0"]));
    expect(git(folder, "status", "--porcelain", "-b")).toBe("## second\n");
    const third = sdk().applyRun(identity, { as: "worktree", branch: "third", output_path: folder });
    await expect(third).rejects.toMatchObject({ code: "OUTPUT_EXISTS" });
    expect(git(project, "branch", "--list", "third")).toBe("");
    await clean();
  });

  it("G-80 never goes over work that is not committed, all or nothing", async () => {
    agents.agent("worker", "sed -i s/1/one/ ten; echo new > new; echo KEY=2 > .env; echo x >> src/run.sh; exit 3");
    write(".env", "KEY=1\n");
    write("src/run.sh", "echo hi\necho mine\n");
    // What it begins with has uncommitted work in it: the sandbox knows it, and git does not.
    const { identity } = await agents.run("worker", { copy_cwd: true, project_path: project });
    const refused = async (what: string[]) => {
      const before = [status(), read("ten"), read("src/run.sh"), read(".env")];
      await expect(sdk().applyRun(identity)).rejects.toMatchObject({
        code: "APPLY_CONFLICT",
        details: { paths: what },
        message: expect.stringContaining("nothing was changed") as unknown,
      });
      expect([status(), read("ten"), read("src/run.sh"), read(".env")]).toEqual(before);
    };
    await refused(["src/run.sh"]);
    git(project, "add", "src/run.sh"); // staged is not committed
    await refused(["src/run.sh"]);
    write("new", "mine\n");
    await refused(["new", "src/run.sh"]);
    rmSync(join(project, "new"));
    git(project, "commit", "-q", "-m", "mine");
    git(project, "update-index", "--assume-unchanged", "ten");
    await refused(["ten"]);
    git(project, "update-index", "--no-assume-unchanged", "ten");
    expect(await sdk().applyRun(identity)).toMatchObject({ applied: true });
    expect(read(".env")).toBe("KEY=1\n");
    // One that was kept can be taken up, and brought home again.
    expect(agents.states()).toEqual([identity]);
    await clean();
  });

  it("G-79 G-141 lets nothing of a hostile sandbox reach git, or anything beside the checkout", async () => {
    const mark = at.path("mark");
    const program = at.path("mark.sh");
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`);
    chmodSync(program, 0o755);
    for (const hook of ["post-checkout", "post-commit", "pre-commit", "reference-transaction", "post-index-change"]) {
      writeFileSync(join(project, ".git/hooks", hook), `#!/bin/sh\ntouch ${mark}\n`);
      chmodSync(join(project, ".git/hooks", hook), 0o755);
    }
    git(project, "config", "filter.mark.smudge", program);
    git(project, "config", "filter.mark.clean", program);
    git(project, "config", "core.fsmonitor", program);
    symlinkSync(at.path("elsewhere"), join(project, "out"));
    mkdirSync(at.path("elsewhere"));
    git(project, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "add", "out");
    git(project, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "commit", "-q", "-m", "link");
    rmSync(mark, { force: true });
    const config = readFileSync(join(project, ".git/config"), "utf8");
    const { identity } = await did(
      [
        "echo '* filter=mark' > .gitattributes; echo '[core] x' >> .git/config; mkdir -p .git/hooks; echo x > .git/hooks/pre-push",
        "mkdir -p sub/.git/hooks .GIT 'git~1'; echo x > sub/.git/hooks/x; echo x > .GIT/config; echo x > 'git~1/config'",
        "ln -s /etc/passwd absolute; ln -s ../../x up; ln -s .git/config into; mkdir -p deep/a/b",
        "ln -s ../../.. deep/a/b/top; ln -s deep/a/b/top/../secret sly; ln -s .. out2",
        "rm out; mkdir out; echo x > out/through; echo good > good; chmod 6777 good; mkfifo pipe",
        "mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/x' > docs/HEAD; echo x | tee docs/objects/k docs/refs/k > docs/config",
        "ln -s untracked/outside note; printf '%b' 'n\\033[31m' | xargs -0 touch; exit 0",
      ].join("\n"),
    );
    symlinkSync("..", join(project, "untracked"));
    const plan = await sdk().applyRun(identity, { dry_run: true });
    const away = plan.left_out.map(({ path }) => path);
    const hostile = [".GIT/config", "git~1/config", "absolute", "up", "into", "sly", "out2", "pipe", "note"];
    for (const path of [...hostile, "docs/HEAD", "docs/config", "docs/objects/k", "docs/refs/k"])
      expect(away).toContain(path);
    expect(plan.look_first).toEqual([".gitattributes"]);
    expect(plan.entries.map(({ path }) => path)).toEqual(expect.not.arrayContaining(away));
    const conflicts = plan.entries.filter(({ outcome }) => outcome === "conflicts").map(({ path }) => path);
    expect(conflicts).toEqual(["out/through"]);
    const shown = await at.cli(["apply", identity, "--dry-run"]);
    expect(shown.code).toBe(1);
    expect(shown.stdout).not.toContain("\u001B[31m");
    expect(shown.stdout).toContain("look first");
    // Through the link that the checkout has nothing is written.
    await expect(sdk().applyRun(identity)).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
    const some = { path: ["good", ".gitattributes", "sub", ".GIT", "git~1", "absolute", "into"] };
    expect(await sdk().applyRun(identity, some)).toMatchObject({ applied: true });
    expect(lstatSync(join(project, "good")).mode & 0o7111).toBe(0o111);
    const tree = { as: "worktree", output_path: at.path("hostile-tree") } as const;
    expect(await sdk().applyRun(identity, { ...tree, path: ["good", ".gitattributes"] })).toMatchObject({
      applied: true,
    });
    for (const top of [project, tree.output_path])
      for (const path of ["absolute", "into", "git~1", "sub/.git"]) expect(existsSync(join(top, path))).toBe(false);
    expect(readFileSync(join(project, ".git/config"), "utf8")).toBe(config);
    expect([existsSync(mark), readdirSync(at.path("elsewhere"))]).toEqual([false, []]);
    await clean();
  });

  it("asks on a terminal, takes a part, a workspace and another checkout, and says what it needs", async () => {
    const { identity } = await did("echo 1 > one; echo 2 > two");
    const program = `node dist/cli/main.js apply ${identity}`;
    const type = (input: string) =>
      runProcess("script", ["-qec", program, "/dev/null"], { env: at.env, cwd: process.cwd(), input });
    const declined = await type("n\n");
    expect([declined.code, status()]).toEqual([1, ""]);
    expect(declined.stdout).toContain("Bring it home?");
    expect((await at.cli(["apply", identity])).code).toBe(2);
    expect((await at.cli(["apply", identity, "--branch", "x", "--yes"])).code).toBe(2);
    const part = await at.cli(["apply", identity, "--path", "one", "--yes", "--json"]);
    expect(JSON.parse(part.stdout)).toMatchObject({ applied: true, entries: [{ path: "one" }] });
    const agreed = await type("y\n");
    expect([agreed.code, read("two")]).toEqual([0, "2\n"]);
    await clean();
    // Of a folder of a checkout, and of a workspace that is no run's; into another clone.
    const { workspace_id: id } = await sdk().createWorkspace({
      environment: "host",
      seed_path: join(project, "src"),
    });
    await sdk().writeWorkspaceFile(id, "more", { text: "more\n" });
    const clone = at.path("clone");
    git(at.root, "clone", "-q", project, clone);
    const there = { project_path: join(clone, "src") };
    expect(await sdk().applyRun(id, there)).toMatchObject({ identity: null, entries: [{ path: "src/more" }] });
    expect(readFileSync(join(clone, "src/more"), "utf8")).toBe("more\n");
    expect(await sdk().applyRun(id)).toMatchObject({ applied: true, checkout_path: project });
    await expect(sdk().applyRun(id, { project_path: at.home })).rejects.toMatchObject({ code: "CHECKOUT_INVALID" });
    await sdk().deleteWorkspace(id);
    const { workspace_id: empty } = await sdk().createWorkspace({ environment: "host" });
    await expect(sdk().applyRun(empty)).rejects.toMatchObject({ code: "CHECKOUT_INVALID" });
    await sdk().deleteWorkspace(empty);
  });

  it("G-142 applies what was shown, or nothing", async () => {
    const { identity } = await did("sed -i s/^9$/nine/ ten");
    const { plan_digest: digest } = await sdk().applyRun(identity, { dry_run: true });
    expect((await sdk().applyRun(identity, { dry_run: true })).plan_digest).toBe(digest);
    const elsewhere = sdk().applyRun(identity, { as: "branch", plan_digest: digest });
    await expect(elsewhere).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
    // It would be merged then, so without the digest it would come.
    const words = ["-qec", `node dist/cli/main.js apply ${identity}`, "/dev/null"];
    const asked = spawn("script", words, { env: at.env, cwd: process.cwd(), stdio: ["pipe", "pipe", "inherit"] });
    let told = "";
    let isAnswered = false;
    asked.stdout.on("data", (chunk: Buffer) => {
      told += chunk.toString();
      if (isAnswered || !told.includes("Bring it home?")) return;
      isAnswered = true;
      write("ten", ten([2, "two"]));
      git(project, "commit", "-q", "-am", "second");
      asked.stdin.write("y\n");
    });
    const [code] = (await once(asked, "close")) as [number];
    expect([code, told]).toEqual([1, expect.stringContaining("changed since it was shown")]);
    expect(read("ten")).toBe(ten([2, "two"]));
    await expect(sdk().applyRun(identity, { plan_digest: digest })).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
    const { plan_digest: anew } = await sdk().applyRun(identity, { dry_run: true });
    expect(await sdk().applyRun(identity, { plan_digest: anew })).toMatchObject({ applied: true, plan_digest: anew });
    await clean();
  });

  it("changes nothing when one of its changes has no place in the checkout", async () => {
    const { identity } = await did("rm old; echo x > aa; mkdir locked; echo x > locked/x; sed -i s/1/one/ ten");
    // Root is kept from a folder by its flags only, so something else stands in the way.
    mkdirSync(join(project, "locked"));
    git(project, "init", "-q", join(project, "locked"));
    await expect(sdk().applyRun(identity)).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
    expect([read("old"), read("ten"), existsSync(join(project, "aa"))]).toEqual(["old\n", ten(), false]);
    await clean();
  });
});
