import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentDetail, AgentList, PlanDocument } from "../../src/model/bottle-plan.ts";
import { Manifest } from "../../src/sdk/manifest.ts";
import { withInstallation } from "../helpers/installation.ts";
import { findFences } from "../repo/markdown.ts";
import { readProjectFile } from "../repo/project-files.ts";
import { shellCommands } from "../repo/shell-words.ts";

/** An editor that adds a line behind another one. */
const adds = (after: string, line: string): string => `sed -i '/^${after}$/a\\\\${line}'`;

it("docs/first-bottle.md can be typed from the first command to the last, and leaves nothing but two files", async () => {
  await withInstallation(async (at) => {
    const env = { PATH: "/usr/bin:/bin", EDITOR: adds("env:", "  ADDED: now") };
    const commands = findFences(readProjectFile("docs/first-bottle.md"))
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => shellCommands(text));
    expect(commands.length).toBeGreaterThan(6);
    const cwd = at.path("project");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "README.md"), "# A project\n");
    let printed = "";
    for (const [program, ...words] of commands) {
      expect(program).toBe("cloche");
      const { code, stdout, stderr } = await at.cli(words, { env, cwd });
      printed += stdout;
      expect({ words, code, stderr: code === 0 ? "" : stderr }).toEqual({ words, code: 0, stderr: "" });
    }
    expect(printed).toContain("You are agent, in /workspace, in a bottle.\nYour task: Say where you are\n");
    const { agents, bottles } = (await at.cli(["list", "--json"])).json() as unknown as AgentList;
    expect(agents).toMatchObject([
      { name: "assistant", bottle: "dev", provider: "command", source: "home", problem: null },
    ]);
    expect(bottles.map(({ name }) => name)).toEqual(["dev"]);
    const plan = (await at.cli(["start", "--dry-run", "--json"])).json() as unknown as PlanDocument;
    expect(plan.env_names).toEqual(["ADDED", "LOG_LEVEL"]);
    expect(readdirSync(join(at.home, "state"))).toEqual([]);
    expect((await at.sdk.listWorkspaces()).count).toBe(0);
  });
});

it("bottles and agents: what is edited is checked, names are completed, programs bring their own", async () => {
  await withInstallation(async (at) => {
    await at.cli(["init", "--provider", "claude"]);
    const again = await at.cli(["init"]);
    expect(again.stdout).toContain("which was there");
    expect(readdirSync(join(at.home, "bottles"))).toEqual(["dev.md"]);

    const broken = await at.cli(["edit", "dev"], { env: { EDITOR: adds("environment: host", "egres: {}") } });
    expect(broken.code).toBe(2);
    expect(broken.stderr).toMatch(/dev\.md", line \d+: unknown key "egres"; allowed are extends, environment/);
    expect(broken.stderr).toContain("hint: `cloche edit dev` opens it and checks it again");
    expect((await at.cli(["start"])).stderr).toContain("hint: `cloche edit bottles/dev` opens");
    const repaired = await at.cli(["edit", "bottles/dev"], { env: { EDITOR: "sed -i /^egres:/d" } });
    expect([repaired.code, repaired.stdout]).toEqual([0, expect.stringContaining("is right")]);
    const gone = await at.cli(["edit", "nothing-here"]);
    expect([gone.code, gone.stderr.includes("nothing-here")]).toEqual([2, true]);
    expect((await at.cli(["edit", "assistant"], { env: { EDITOR: "false" } })).stderr).toContain('The editor "false"');

    const offered = await at.cli(["__complete", "--", "start", "as"]);
    expect(offered.stdout + offered.stderr).toContain("assistant");

    const manifest = Manifest.fromObject({
      bottles: {
        base: { env: { A: "1" } },
        dev: { extends: "base", agent_provider: { template: "command", settings: { argv: ["true"] } } },
      },
      agents: { demo: { bottle: "dev", skills: [], prompt: "Be careful." } },
    });
    const detail: AgentDetail = await at.sdk.inspectAgent("demo", { manifest });
    expect(detail).toMatchObject({
      source: "object",
      provider: "command",
      merged_bottles: ["base", "dev"],
      prompt: "Be careful.",
    });
    const [one, other] = await Promise.all(
      (["container", "vm"] as const).map((backend) => at.sdk.planRun("demo", { manifest, backend })),
    );
    expect(one?.preflight).toBe(other?.preflight);
    await expect(
      at.sdk.planRun("demo", { manifest: Manifest.fromObject({ agents: { demo: { bottle: "dev" } } }) }),
    ).rejects.toMatchObject({
      code: "BOTTLE_NOT_FOUND",
    });

    const nowhere = Manifest.fromObject({
      bottles: { dev: { environment: "no-such:1" } },
      agents: { demo: { bottle: "dev" } },
    });
    await expect(at.sdk.planRun("demo", { manifest: nowhere })).rejects.toMatchObject({
      code: "ENVIRONMENT_NOT_FOUND",
    });

    const project = at.path("project");
    mkdirSync(join(project, ".cloche/agents"), { recursive: true });
    writeFileSync(join(project, ".cloche/agents/theirs.md"), "---\nbottle: dev\nprovider: codex\n---\n");
    const { agents } = (await at.cli(["list", "--json"], { cwd: project })).json() as unknown as AgentList;
    expect(agents.find(({ name }) => name === "theirs")).toMatchObject({
      source: "project",
      problem: expect.stringContaining("asks for provider") as string,
    });
  });
});
