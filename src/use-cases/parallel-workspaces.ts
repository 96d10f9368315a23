import { setTimeout as wait } from "node:timers/promises";
import type { UseCase } from "./use-case.ts";

const ISSUES = ["alpha", "beta", "gamma"] as const;
type Issue = (typeof ISSUES)[number];
const FILE = "branch.txt";

/** Times of activity are told apart by the millisecond, and no event says that the clock went on. */
const CLOCK_STEP_MS = 5;

export const parallelWorkspaces: UseCase = {
  scenario: "parallel-workspaces",
  title: "Work on several issues at once, one workspace each",
  profile: "workspace-core",
  mode: "repro-fix",
  docPath: "docs/use-cases/parallel-workspaces.md",
  smokeTarget: "smoke-parallel-workspaces",
  async run({ client, seed, create, step }) {
    const ids = await step("create one workspace for each issue, at the same time", async (expect) => {
      const seed_path = await seed({ [FILE]: "base\n" });
      const make = (issue: Issue) => create({ seed_path, name: `issue-${issue}`, labels: { issue, owner: "me" } });
      // All are waited for before one that failed is told, so that each that was made is known.
      const made = await Promise.allSettled(ISSUES.map(make));
      const workspaces = made.map((one) => {
        if (one.status === "rejected") throw one.reason;
        return one.value;
      });
      expect("names", namesOf(workspaces), ["issue-alpha", "issue-beta", "issue-gamma"]);
      const [alpha, beta, gamma] = workspaces.map((workspace) => workspace.workspace_id);
      return { alpha: alpha ?? "", beta: beta ?? "", gamma: gamma ?? "" };
    });
    const all = new Set(Object.values(ids));
    /** The list, reduced to the workspaces of this walk. */
    const own = async () =>
      (await client.listWorkspaces()).workspaces.filter((workspace) => all.has(workspace.workspace_id));

    await step("change the same file in each", async (expect) => {
      for (const issue of ISSUES) {
        await wait(CLOCK_STEP_MS);
        const written = await client.writeWorkspaceFile(ids[issue], FILE, { text: `${issue}\n` });
        expect("written", written, { workspace_id: ids[issue], bytes_written: issue.length + 1 });
      }
    });
    await step("see the newest activity first, and find one by its label", async (expect) => {
      const listed = await own();
      expect("names", namesOf(listed), ["issue-gamma", "issue-beta", "issue-alpha"]);
      expect("beta", listed.find(({ labels }) => labels["issue"] === "beta")?.workspace_id, ids.beta);
    });
    await step("change the labels of one, which is activity too", async (expect) => {
      await wait(CLOCK_STEP_MS);
      const updated = await client.updateWorkspace(ids.alpha, { labels: { owner: "alice", state: "review" } });
      expect("labels of alpha", sorted(updated.labels), sorted({ issue: "alpha", owner: "alice", state: "review" }));
      const other = await client.statusWorkspace(ids.beta);
      expect("labels of beta", sorted(other.labels), sorted({ issue: "beta", owner: "me" }));
      expect("first of the list", (await own())[0]?.name, "issue-alpha");
    });
    await step("see that each has its own contents", async (expect) => {
      for (const issue of ISSUES) {
        expect(issue, await client.readWorkspaceFile(ids[issue], FILE), { content: `${issue}\n` });
        const { entries } = await client.diffWorkspace(ids[issue]);
        expect(`diff of ${issue}`, entries, [{ path: `/workspace/${FILE}`, status: "modified" }]);
      }
    });
    await step("delete one after the other; the others stay", async (expect) => {
      for (const [index, issue] of ISSUES.entries()) {
        expect("deleted", await client.deleteWorkspace(ids[issue]), { workspace_id: ids[issue], deleted: true });
        const left = new Set((await own()).map((workspace) => workspace.workspace_id));
        const wanted = ISSUES.slice(index + 1).map((name) => ids[name]);
        expect("left", [...left].sort(), wanted.sort());
      }
    });
  },
};

const namesOf = (workspaces: readonly { name: string | null }[]) => workspaces.map(({ name }) => name);
/** As a list, so that a label too many is noticed. */
const sorted = (labels: Readonly<Record<string, string>>) => Object.entries(labels).sort();
