import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_PROPOSALS_PER_HOUR, REJECTION_SECONDS } from "../model/proposal.ts";
import { ProposalQueue } from "../../test/helpers/proposal-queue.ts";

let queue: ProposalQueue;
beforeEach(() => {
  queue = new ProposalQueue();
});
afterEach(() => queue[Symbol.dispose]());

describe("G-121: what is asked again", () => {
  it("is answered with the approval that is in force, also by a rule, and is asked anew when it is not", async () => {
    const { proposals, rules } = queue.open();
    const routes = { routes: [{ host: "a.test" }] };
    const rule = rules.add({ kind: "egress-block", proposed: routes, reason: "each time" });
    proposals.take("ws-a", [queue.ask("p-0", "a.test")]);
    await expect.poll(() => proposals.list({ status: "approved" }).count).toBe(1);
    for (let round = 1; round < 5; round++) {
      queue.now += 3600;
      proposals.take("ws-a", [queue.ask(`p-${round}`, "a.test")]);
      expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "approved", proposal_id: "p-0000000000" });
    }
    expect(proposals.list({ status: "all" }).count).toBe(1);
    expect(await queue.told(["proposal.created", "proposal.decided"])).toHaveLength(2);
    rules.remove({ rule_id: rule.rule_id });
    queue.applied = []; // the operator took the route away
    proposals.take("ws-a", [queue.ask("p-9", "a.test")]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "pending", proposal_id: "p-9000000000" });
  });

  it("is what the operator made of it, where they changed it", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-0", "a.test")]);
    const proposed = { routes: [{ host: "a.test", matches: [{ methods: ["GET"] }] }] };
    await proposals.approve({ proposal_id: "p-0", proposed });
    proposals.take("ws-a", [queue.ask("p-1", "a.test")]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "modified", proposal_id: "p-0000000000", proposed });
  });

  it("is a new proposal where the approval was for once", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-0", "a.test")]);
    await proposals.approve({ proposal_id: "p-0", scope: "once" });
    proposals.take("ws-a", [queue.ask("p-1", "a.test")]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "pending", proposal_id: "p-1000000000" });
  });

  it("is rejected for the same reason for some time, in that run, and by no clock for longer", async () => {
    const { proposals } = queue.open();
    proposals.take("ws-a", [queue.ask("p-0", "a.test")]);
    await proposals.reject({ proposal_id: "p-0", reason: "use the mirror" });
    queue.now += REJECTION_SECONDS - 1;
    proposals.take("ws-a", [queue.ask("p-1", "a.test")]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({
      status: "rejected",
      reason: "use the mirror",
      proposal_id: "p-0000000000",
    });
    proposals.take("ws-b", [queue.ask("p-2", "a.test")]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "pending" });
    expect(await queue.told(["proposal.created"])).toHaveLength(2);
    queue.now -= REJECTION_SECONDS * 9;
    proposals.take("ws-a", [queue.ask("p-3", "a.test")]);
    expect(queue.answers.at(-1)?.answer).toMatchObject({ status: "pending", proposal_id: "p-3000000000" });
  });

  it("is refused beyond so many in an hour, and taken in the next", async () => {
    const { proposals } = queue.open();
    const ask = async (nth: number) => {
      proposals.take("ws-a", [queue.ask(`p-n${nth}x`, `h${nth}.test`)]);
      const { answer } = queue.answers.at(-1) ?? {};
      if (answer?.status === "pending") await proposals.reject({ proposal_id: answer.proposal_id, reason: "no" });
      return answer;
    };
    for (let nth = 0; nth < MAX_PROPOSALS_PER_HOUR; nth++) expect(await ask(nth)).toMatchObject({ status: "pending" });
    const refused = await ask(MAX_PROPOSALS_PER_HOUR);
    expect(refused).toMatchObject({ status: "rejected" });
    expect(refused?.reason).toContain("The operator was not asked");
    expect(proposals.list({ status: "all" }).count).toBe(MAX_PROPOSALS_PER_HOUR);
    queue.now += 3601;
    expect(await ask(999)).toMatchObject({ status: "pending" });
  });
});
