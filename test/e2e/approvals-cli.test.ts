import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Proposal } from "../../src/model/proposal.ts";
import { AskingAgents } from "../helpers/asking-agents.ts";
import { cliInProcess } from "../helpers/cli-in-process.ts";
import { eventually, Installation, PROJECT } from "../helpers/installation.ts";

/** `cloche approvals list --watch`, as somebody has it at a terminal. */
class Watching {
  stdout = "";
  readonly #child: ChildProcess;

  /** Those that a test did not come to the end of. */
  static readonly all: Watching[] = [];

  constructor(at: Installation, ...args: readonly string[]) {
    const words = [join(PROJECT, "dist/cli/main.js"), "approvals", "list", "--watch", ...args];
    this.#child = spawn(process.execPath, words, { env: at.env, stdio: ["ignore", "pipe", "inherit"] });
    Watching.all.push(this);
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
  }

  get lines(): string[] {
    return this.stdout.split("\n").filter(Boolean);
  }

  async until(count: number): Promise<string[]> {
    await eventually(() => expect(this.lines.length, this.stdout).toBeGreaterThanOrEqual(count));
    return this.lines;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** By Ctrl-C. Gives what the program ends with. */
  async interrupt(): Promise<unknown> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGINT");
    return (await ended) as unknown;
  }
}

describe("cloche approvals", () => {
  let at: Installation;
  let agents: AskingAgents;
  let run: string;

  beforeAll(async () => {
    at = new Installation("appr");
    agents = new AskingAgents(at);
    run = await agents.start("asker");
  });

  afterAll(async () => {
    for (const watching of Watching.all) watching.kill();
    for (const { identity } of (await at.sdk.listRuns()).runs) await at.sdk.stopRun(identity);
    await at.sdk.cleanUp({ all: true });
    await at[Symbol.asyncDispose]();
  });

  const cli = (...args: string[]) => cliInProcess(at, ["approvals", ...args]);
  const about = async (host: string): Promise<Proposal> => {
    let found: Proposal | undefined;
    await eventually(async () => {
      found = (await at.sdk.listApprovals()).proposals.find(({ adds }) => adds.includes(host));
      expect(found).toBeDefined();
    });
    return found as Proposal;
  };

  it("list --watch tells each as it comes and as it is answered, and with --status those alone", async () => {
    const over = agents.askForRoute(run, "over.example.com");
    const before = await about("over.example.com");
    await at.sdk.rejectProposal(before.proposal_id, "before");
    await over;
    const early = agents.askForRoute(run, "early.example.com");
    await about("early.example.com");
    const all = new Watching(at, run);
    const rejected = new Watching(at, "--status", "rejected", "--json");
    const pushes = new Watching(at, "--kind", "push-allow");
    expect(await all.until(1)).toMatchObject([expect.stringContaining("pending  It lets out to early.example.com")]);
    await rejected.until(1); // it listens by now
    const late = agents.askForRoute(run, "late.example.com");
    const [first, second] = [await about("early.example.com"), await about("late.example.com")];
    await all.until(2);
    expect(await cli("approve", first.proposal_id)).toMatchObject({ code: 0 });
    expect(await cli("reject", second.proposal_id, "--reason", "not that one")).toMatchObject({ code: 0 });
    expect((await all.until(4)).map((line) => line.split(/ {2}/).slice(0, 4))).toEqual([
      [first.proposal_id, run, "egress-block", "pending"],
      [second.proposal_id, run, "egress-block", "pending"],
      [first.proposal_id, run, "egress-block", "approved"],
      [second.proposal_id, run, "egress-block", "rejected"],
    ]);
    expect((await rejected.until(2)).map((line) => JSON.parse(line) as object)).toMatchObject([
      { proposal_id: before.proposal_id, status: "rejected" },
      { proposal_id: second.proposal_id, status: "rejected", reason: "not that one" },
    ]);
    expect(pushes.lines).toEqual([]);
    for (const watching of [all, rejected, pushes]) expect(await watching.interrupt()).toEqual([null, "SIGINT"]);
    expect(await early).toMatchObject({ status: "approved" });
    expect(await late).toMatchObject({ status: "rejected", reason: "not that one" });
  });

  it("show and approve say what an edit adds", async () => {
    const asking = agents.askForRoute(run, "edit.example.com");
    const { proposal_id: id } = await about("edit.example.com");
    const file = at.path("edit.yaml");
    writeFileSync(
      file,
      'routes: [{ host: edit.example.com, matches: [{ paths: [{ type: regex, value: "/.*" }] }] }]\n',
    );
    const words = "any path at all";
    const plain = await cli("show", id);
    expect(plain.stdout).not.toContain(words);
    expect(plain.stdout).toContain("bottle: also in every later run with the bottle");
    expect((await cli("show", id, "--edit", file)).stdout).toContain(words);
    const approved = await cli("approve", id, "--edit", file);
    expect(approved.stdout).toMatch(new RegExp(`^${id} modified for the run by .*\\n.*${words}`));
    expect(await asking).toMatchObject({ status: "modified" });
    const late = await cli("show", id, "--edit", at.path("none.yaml"));
    expect(late.code).not.toBe(0);
  });

  it("rules add, list and remove: what a rule says is approved, and nothing after it is gone", async () => {
    const file = at.path("rule.json");
    writeFileSync(file, JSON.stringify({ routes: [{ host: "ruled.example.com" }] }));
    expect(await cli("rules", "list")).toMatchObject({ code: 0, stdout: "No rules: a person answers everything\n" });
    expect(await cli("rules", "add", file)).toMatchObject({ code: 2 });
    const bad = await cli("rules", "add", file, "--reason", "x", "--kind", "dlp-allow");
    expect(bad.code).toBe(2);
    const added = await cli("rules", "add", file, "--reason", "our own", "--agent", "asker", "--json");
    expect(added.json()).toMatchObject({ agent_name: "asker", scope: "run", used: 0, reason: "our own" });
    const id = String(added.json()["rule_id"]);
    expect(await cli("rules", "add", file, "--reason", "again", "--agent", "asker")).toMatchObject({ code: 2 });
    expect(await agents.askForRoute(run, "ruled.example.com")).toMatchObject({ status: "approved" });
    const listed = await cli("rules", "list");
    expect(listed.stdout).toMatch(
      new RegExp(`${id} +egress-block +asker +run +1 +It lets out to ruled\\.example\\.com`),
    );
    expect(await cli("rules", "remove", id)).toMatchObject({ code: 0, stdout: `${id} is gone\n` });
    const gone = await cli("rules", "remove", id, "--json");
    expect([gone.code, gone.json()]).toMatchObject([1, { error: { code: "RULE_NOT_FOUND" } }]);
    const other = await agents.start("other");
    const asking = agents.askForRoute(other, "ruled.example.com");
    await at.sdk.rejectProposal((await about("ruled.example.com")).proposal_id, "no rule any more");
    expect(await asking).toMatchObject({ status: "rejected" });
  });
});
