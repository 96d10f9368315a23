import type { Proposal } from "../../model/proposal.ts";
import { PROPOSAL_KIND_NAMES, PROPOSAL_STATUSES } from "../../model/proposal-kinds.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { ListApprovalsOptions } from "../../sdk/options.ts";
import { type Context, defineCommand } from "../command.ts";
import { formatJsonLine, guardScreen } from "../output/escape.ts";
import { writeAll } from "../output/write-all.ts";
import { formatProposalLine, formatProposals } from "../results/proposal-text.ts";

export const command = defineCommand({
  words: ["approvals", "list"],
  summary: "List what agents ask you for",
  description:
    "Shows those that wait for an answer, oldest first, also of runs that have ended. With --watch it prints each as it comes and as it is answered, until Ctrl-C, and with --status those alone that have come to it; with --watch and --json, one JSON object on each line.",
  positionals: [{ name: "IDENTITY", description: "Only those of that run", optional: true, completes: "workspace" }],
  options: {
    watch: { type: "boolean", short: "w", description: "Go on with what comes, until Ctrl-C" },
    kind: { type: "string", value: "KIND", description: "Only those of that kind", choices: PROPOSAL_KIND_NAMES },
    status: {
      type: "string",
      value: "STATUS",
      description: "Those with that status instead (default: pending)",
      choices: [...PROPOSAL_STATUSES, "all"],
    },
  },
  examples: [
    "cloche approvals list",
    "cloche approvals list reviewer-k3x9a --status all",
    "cloche approvals list --watch",
    "cloche approvals list --json | jq -r '.proposals[].proposal_id'",
  ],
  async run(context) {
    const client = await context.connect();
    const { kind, status, watch } = context.values;
    const identity = context.optionalArgument("IDENTITY");
    const options: ListApprovalsOptions = {
      ...(identity !== undefined && { identity }),
      ...(kind !== undefined && { kind }),
      ...(status !== undefined && { status }),
    };
    if (watch) {
      await showAsTheyCome(context, client, options);
      return 0;
    }
    const list = await client.listApprovals(options);
    await context.print(list, () => formatProposals(list, Date.now() / 1000, context.layout));
    return 0;
  },
});

/** First those that are there, then each as it is made or answered: told by events, in the order in which it happened. */
async function showAsTheyCome(context: Context, client: Cloche, options: ListApprovalsOptions): Promise<void> {
  const { identity, kind, status } = options;
  const watch = client.watch({
    kinds: ["proposal.created", "proposal.decided"],
    ...(identity !== undefined && { identity }),
  });
  await watch.ready;
  const show = async (proposal: Proposal, line: string): Promise<void> => {
    if (kind !== undefined && proposal.kind !== kind) return;
    // Without a status it tells of those that wait, and of what becomes of them.
    if (status !== undefined && status !== "all" && proposal.status !== status) return;
    const text = context.json ? formatJsonLine(proposal) : line;
    await writeAll(context.io.stdout, `${context.onTerminal ? guardScreen(text) : text}\n`);
  };
  for (const proposal of (await client.listApprovals(options)).proposals)
    await show(proposal, formatProposalLine(proposal));
  for await (const event of watch) {
    if (event.kind !== "proposal.created" && event.kind !== "proposal.decided") continue;
    const { proposals } = await client.listApprovals({ proposal_id: event.proposal_id, status: "all" });
    for (const proposal of proposals) await show(proposal, formatProposalLine(proposal));
  }
}
