import type { ClocheEvent, EventOf } from "../../model/event.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { WatchOptions } from "../../sdk/options.ts";
import { defineCommand, type Context } from "../command.ts";
import { TOLD_WORKSPACE_OR_RUN } from "../arguments/common-options.ts";
import { formatJsonLine, guardScreen } from "../output/escape.ts";
import { formatTable } from "../output/table.ts";
import { writeAll } from "../output/write-all.ts";
import { EGRESS_COLUMNS, EGRESS_HEADER, egressRow, type EgressTold } from "../results/egress-row.ts";

export const command = defineCommand({
  words: ["egress", "log"],
  summary: "Show the requests of a workspace: what passed, what was denied, and by which rule",
  description:
    "Without --follow it prints what is kept, oldest first, and ends; with it, what is kept and then what comes. How much is told is the policy's `log`: all, blocks or off. With --json it prints one document; with --follow and --json, one JSON object on each line.",
  positionals: [TOLD_WORKSPACE_OR_RUN],
  options: {
    follow: { type: "boolean", short: "f", description: "Go on with what comes, until Ctrl-C" },
    denied: { type: "boolean", description: "Only what was denied" },
  },
  examples: [
    "cloche egress log ws-4",
    "cloche egress log ws-4 --follow",
    "cloche egress log reviewer-k3x9a",
    "cloche egress log ws-4 --denied --json | jq '.requests[].host'",
  ],
  async run(context) {
    const { follow, denied } = context.values;
    const client = await context.connect();
    const options: WatchOptions = {
      workspace_id: context.argument("ID|IDENTITY"),
      kinds: denied ? ["egress.denied"] : ["egress.request", "egress.denied"],
      since: 0,
      follow,
    };
    if (follow) await showAsTheyCome(context, client, options);
    else await showAll(context, client, options);
    return 0;
  },
});

const isTold = (event: ClocheEvent): event is EventOf<"egress.request" | "egress.denied"> =>
  event.kind === "egress.request" || event.kind === "egress.denied";

async function showAll(context: Context, client: Cloche, options: WatchOptions): Promise<void> {
  const requests: EgressTold[] = [];
  for await (const event of client.watch(options)) if (isTold(event)) requests.push(event);
  if (requests.length === 0 && !context.json) context.note("No requests");
  await context.print({ count: requests.length, requests }, () =>
    requests.length === 0 ? "" : formatTable(EGRESS_HEADER, requests.map(egressRow), context.layout).join("\n"),
  );
}

/** Nobody knows yet how wide the next row is: columns are as wide as they usually are. */
async function showAsTheyCome(context: Context, client: Cloche, options: WatchOptions): Promise<void> {
  const write = async (line: string) =>
    await writeAll(context.io.stdout, `${context.onTerminal ? guardScreen(line) : line}\n`);
  const aligned = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(EGRESS_COLUMNS[at] ?? 0))
      .join("  ")
      .trimEnd();
  if (!context.json) await write(context.colours.bold(aligned(EGRESS_HEADER)));
  for await (const event of client.watch(options)) {
    if (!isTold(event)) continue;
    const line = context.json ? formatJsonLine(event) : aligned(egressRow(event));
    await write(!context.json && event.kind === "egress.denied" ? context.colours.red(line) : line);
  }
}
