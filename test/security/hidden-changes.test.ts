import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { useSandbox } from "../helpers/sandbox.ts";

/** An agent that does not want its change to be reviewed. */
describe("hiding a change from a diff", () => {
  const box = useSandbox("hidden-changes");
  let seed: string;

  beforeAll(() => {
    seed = box.at.path("ignoring-project");
    mkdirSync(join(seed, "src"), { recursive: true });
    mkdirSync(join(seed, "vendor"));
    writeFileSync(join(seed, ".gitignore"), "node_modules\n*.log\n/vendor/\n");
    writeFileSync(join(seed, "src/main.ts"), "one\n");
    writeFileSync(join(seed, "vendor/tracked.js"), "tracked\n");
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.invalid", ...args], { cwd: seed });
    git("init", "-q");
    git("add", "-f", ".");
    git("commit", "-qm", "all");
    writeFileSync(join(seed, ".git/info/exclude"), "private/\n");
  });

  const told = async (id: string, options = {}) => {
    const { entries, ignored_count } = await box.at.sdk.diffWorkspace(id, options);
    return [...entries.map(({ status, path }) => `${status} ${path.replace("/workspace/", "")}`), ignored_count];
  };
  const create = async () => (await box.at.sdk.createWorkspace({ environment: "host", seed_path: seed })).workspace_id;
  const run = async (id: string, command: string) =>
    expect(await box.at.sdk.execWorkspace(id, { command })).toMatchObject({ exit_code: 0, stderr: "" });

  it("G-30 works with no ignore rule that was written in the sandbox", async () => {
    const id = await create();
    await run(
      id,
      `printf '*\\n' > .gitignore; printf '*\\n' > src/.gitignore; printf '*\\n' >> .git/info/exclude; git config core.excludesFile /workspace/.gitignore
       printf '*\\n' > /home/agent/.gitignore; git config --global core.excludesFile /home/agent/.gitignore
       echo evil > src/evil.ts; mkdir -p new/deep; echo evil > new/deep/evil.ts; printf '*\\n' > new/.gitignore`,
    );
    const all = [
      "modified .gitignore",
      "added new/.gitignore",
      "added new/deep/evil.ts",
      "added src/.gitignore",
      "added src/evil.ts",
      0,
    ];
    expect(await told(id)).toEqual(all);
    const summary = await box.at.sdk.summarizeWorkspace(id);
    expect(summary.changes).toMatchObject({ summary: { total: 5 }, ignored_count: 0 });
    // Neither do those of a state that was made in the sandbox.
    const fork = await box.at.sdk.forkWorkspace(id, { rebase: true });
    await run(fork.workspace_id, "echo more > src/more.ts; echo changed > src/evil.ts");
    expect(await told(fork.workspace_id)).toEqual(["modified src/evil.ts", "added src/more.ts", 0]);
    for (const one of [id, fork.workspace_id]) await box.at.sdk.deleteWorkspace(one);
  });

  it("G-30 cannot make anything of what was seeded one that is ignored", async () => {
    const id = await create();
    await run(
      id,
      `echo changed > vendor/tracked.js; echo own > vendor/own.js; mkdir -p node_modules/a private; echo 1 > node_modules/a/1.js; echo 2 > private/2; echo 3 > src/x.log`,
    );
    expect(await told(id)).toEqual(["modified vendor/tracked.js", 4]);
    expect(await told(id, { path: "node_modules" })).toEqual(["added node_modules/a/1.js", 0]);
    expect(await told(id, { path: ["src/x.log", "vendor"] })).toEqual([
      "added src/x.log",
      "added vendor/own.js",
      "modified vendor/tracked.js",
      0,
    ]);
    expect(await told(id, { path: "src" })).toEqual([1]);
    expect(await told(id, { include_ignored: true })).toHaveLength(6);
    await run(id, "rm -r vendor; echo file > vendor");
    expect(await told(id)).toEqual(["type_changed vendor", "deleted vendor/tracked.js", 3]);
    await expect(box.at.sdk.diffWorkspace(id, { path: "no/such" })).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await box.at.sdk.deleteWorkspace(id);
  });

  it("G-30 cannot bury a change under what is large or much", async () => {
    const id = await create();
    await run(
      id,
      `echo two >> src/main.ts; mkdir bulk; for i in $(seq 30); do head -c 600000 /dev/zero | tr '\\0' x | fold -w 60 > bulk/$i.txt; done; head -c 2000000 /dev/zero | tr '\\0' y > a-large.txt; printf '\\0' > a-binary`,
    );
    const diff = await box.at.sdk.diffWorkspace(id);
    const entry = (name: string) => diff.entries.find(({ path }) => path === `/workspace/${name}`);
    expect(entry("src/main.ts")?.patch).toContain("+two");
    expect(entry("a-large.txt")).toMatchObject({ omitted: "too_large" });
    expect(entry("a-binary")).toMatchObject({ omitted: "binary" });
    const { count, reasons } = diff.omitted;
    expect(reasons).toMatchObject({ too_large: 1, binary: 1 });
    expect(reasons.budget).toBeGreaterThan(5);
    expect(count).toBe(diff.entries.filter(({ patch }) => patch === undefined).length);
    const human = await box.at.cli(["workspace", "diff", id, "--name-only"]);
    expect(human.stdout.split("\n")).toContain("src/main.ts");
    expect(human.stderr.split("\n").length).toBeLessThan(16);
    const stat = await box.at.cli(["workspace", "diff", id, "--stat", "--path", "src"]);
    expect(stat.stdout).toContain("src/main.ts | 1 +");
    await box.at.sdk.deleteWorkspace(id);
  });
});
