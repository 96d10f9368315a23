import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import type { Proposal } from "../../src/model/proposal.ts";
import { BottledAgents } from "../helpers/bottled-agents.ts";
import { gateOf } from "../helpers/gate-of.ts";
import { hostGit, makeUpstream, refsOf } from "../helpers/git-server.ts";
import { Installation, eventually } from "../helpers/installation.ts";

const IDENTITY = { name: "Review Agent", email: "agent@example.com" };

describe("a push that is held for the operator", () => {
  let at: Installation;
  let agents: BottledAgents;

  beforeAll(() => {
    at = new Installation("h");
    agents = new BottledAgents(at);
  });

  afterAll(async () => {
    await at.sdk.cleanUp({ all: true });
    await at[Symbol.asyncDispose]();
  });

  const script = (url: string) => `exec 2>&1
    step() { until test -e /workspace/$1; do sleep 0.1; done; }
    commit() { echo $1 > a; git add a; git commit -q -m $1; git tag $1; }
    push() { git push "$@"; echo "$* ended with $?"; }
    git clone -q ${url} w && cd w || exit 1
    commit one; push origin one:refs/heads/release
    commit two; setsid git push origin two:refs/heads/release & pid=$!
    step give-up; kill -9 -$pid; echo gave up
    step late; until git ls-remote -q origin >/dev/null 2>&1; do sleep 0.2; done
    commit three; push origin three:refs/heads/release
    push -o ci.skip origin two:refs/heads/release
    push origin two:refs/heads/release
    step again; push origin two:refs/heads/release`;

  const begin = async (name: string) => {
    const path = makeUpstream(at.path("upstreams"), name);
    const url = `file://${path}`;
    const repos = { app: { url, rules: { branches: ["agent/*"] } } };
    agents.agent(name, script(url), { bottle: { supervise: true, git: { user: IDENTITY, repos } } });
    const { identity, workspace_id: id } = await at.sdk.startRun(name, agents.options());
    const ended = agents.follow(at.sdk.attachRun(identity));
    const seen = new Set<string>();
    return {
      id,
      identity,
      ended,
      release: () => refsOf(path)["refs/heads/release"],
      put: (ref: string) => hostGit(path, ["update-ref", "refs/heads/release", ref]),
      step: (file: string) => at.sdk.writeWorkspaceFile(id, file, { text: "" }),
      said: async () => (await at.sdk.logsWorkspace(identity)).entries[0]?.stdout ?? "",
      /** The next that waits. */
      next: async (): Promise<Proposal> => {
        let found: Proposal | undefined;
        await eventually(async () => {
          const { proposals } = await at.sdk.listApprovals({ identity });
          found = proposals.find(({ proposal_id }) => !seen.has(proposal_id));
          expect(found).toBeDefined();
        }, 60);
        seen.add(found?.proposal_id ?? "");
        return found as Proposal;
      },
      /** It may be on its way back from the last time. */
      killGate: () =>
        eventually(() => {
          const running = gateOf(at.home, id);
          if (!running) throw new Error("no gate runs");
          process.kill(running.gate, "SIGKILL");
        }),
    };
  };

  it.each([
    [
      "waits with a line that names its proposal, and passes once when it is approved, also after its client gave up",
      false,
    ],
    ["does so too when its gate is killed before the approval, and after it", true],
  ])(
    "G-90 G-99 G-127 %s",
    async (_name, isKilled) => {
      const run = await begin(isKilled ? "killed" : "waits");
      const first = await run.next();
      expect(first).toMatchObject({ kind: "push-allow", command: "git push app refs/heads/release" });
      await eventually(async () =>
        expect(await run.said()).toContain(
          `remote: cloche: this push waits for the operator, as proposal ${first.proposal_id}`,
        ),
      );
      expect(run.release()).toBeUndefined();
      expect(await at.cli(["approvals", "approve", first.proposal_id])).toMatchObject({ code: 2 });
      expect(await at.cli(["approvals", "approve", first.proposal_id, "--reason", "release day"])).toMatchObject({
        code: 0,
      });
      const second = await run.next();
      const one = run.release();
      expect(one).toMatch(/^[0-9a-f]{40}$/);
      await run.step("give-up");
      await eventually(async () => expect(await run.said()).toContain("gave up"));
      if (isKilled) await run.killGate();
      else
        await eventually(async () => {
          const events: ClocheEvent[] = [];
          for await (const event of at.sdk.watch({ identity: run.identity, since: 0, follow: false }))
            events.push(event);
          expect(events.filter(({ kind }) => kind === "push.rejected").length).toBe(1);
        });
      await eventually(async () => {
        await at.sdk.approveProposal(second.proposal_id, { reason: "later" });
      }, 60);
      if (isKilled) await run.killGate();
      expect(run.release()).toBe(one);
      await run.step("late");
      // Other ids, and the same with an option, are other pushes.
      for (const command of ["git push app refs/heads/release", "git push -o ci.skip app refs/heads/release"]) {
        const other = await run.next();
        expect(other.command).toBe(command);
        await at.sdk.rejectProposal(other.proposal_id, "not this one");
      }
      await eventually(() => expect(run.release()).not.toBe(one), 60);
      const two = run.release() ?? "";
      run.put(one ?? "");
      await run.step("again");
      const again = await run.next();
      await at.sdk.rejectProposal(again.proposal_id, "once is enough");
      const { stdout } = await run.ended;
      expect(stdout.match(/ended with \d+/g), stdout).toEqual([0, 1, 1, 0, 1].map((code) => `ended with ${code}`));
      expect(stdout).toContain("the operator has approved this push");
      expect(stdout).toContain("once is enough");
      expect(run.release()).toBe(one);
      expect(again.proposed).toMatchObject({ refs: [{ old: one, new: two }] });
    },
    180_000,
  );
});
