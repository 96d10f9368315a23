import { isClocheError } from "../../base/errors.ts";
import { type ClocheEvent, EVENT_KINDS, type EventKind } from "../../model/event.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { WatchOptions } from "../../sdk/options.ts";
import { defineCommand, type Context } from "../command.ts";
import { formatJsonLine, guardScreen } from "../output/escape.ts";
import { formatEvent } from "../results/event-line.ts";
import { parseSequence } from "../arguments/option-values.ts";
import { writeAll } from "../output/write-all.ts";

export const command = defineCommand({
  words: ["events"],
  summary: "Show what happened, also to workspaces that are gone",
  description:
    "Without --follow it prints what is kept, oldest first, and ends. With --follow it waits for what comes, and prints what is kept before only with --since. " +
    "With --json it prints one document; with --follow and --json, one JSON object on each line.",
  positionals: [
    {
      name: "ID|IDENTITY",
      description: "Only what is about that workspace, or about that run; of a workspace that is gone, its whole id",
      optional: true,
      completes: "workspace",
    },
  ],
  options: {
    follow: { type: "boolean", short: "f", description: "Go on with what comes, until Ctrl-C" },
    since: {
      type: "string",
      value: "SEQUENCE",
      description: "Only what came after that event; 0 is before the first",
      parse: parseSequence,
    },
    kind: {
      type: "string",
      value: "KIND",
      description: "Only events of that kind",
      multiple: true,
      choices: Object.keys(EVENT_KINDS) as EventKind[],
    },
  },
  examples: [
    "cloche events",
    "cloche events ws-4 --follow",
    "cloche events --follow --since 120 --kind command.ended --json | jq .exit_code",
  ],
  async run(context) {
    const { follow, since, kind: kinds } = context.values;
    const about = context.optionalArgument("ID|IDENTITY");
    const client = await context.connect();
    const options: WatchOptions = {
      follow,
      since,
      ...(kinds.length > 0 && { kinds }),
      ...(about !== undefined && (await named(client, about))),
    };
    if (follow) await showAsTheyCome(context, client, options);
    else await showAll(context, client, options);
    return 0;
  },
});

/** A name of a workspace that there is or was; of none, it is that of a run. */
async function named(client: Cloche, about: string): Promise<WatchOptions> {
  if (about.startsWith("ws-")) return { workspace_id: about };
  try {
    return { workspace_id: (await client.statusWorkspace(about)).workspace_id };
  } catch (error) {
    if (!isClocheError(error) || error.code !== "WORKSPACE_NOT_FOUND") throw error;
    const gone = error.details?.["workspace_id"];
    return typeof gone === "string" ? { workspace_id: gone } : { identity: about };
  }
}

async function showAll(context: Context, client: Cloche, options: WatchOptions): Promise<void> {
  const events: ClocheEvent[] = [];
  for await (const event of client.watch(options)) events.push(event);
  if (events.length === 0 && !context.json) context.note("No events");
  await context.print({ count: events.length, events }, () =>
    events.map((event) => formatEvent(event, context.colours)).join("\n"),
  );
}

async function showAsTheyCome(context: Context, client: Cloche, options: WatchOptions): Promise<void> {
  for await (const event of client.watch(options)) {
    const line = context.json ? formatJsonLine(event) : formatEvent(event, context.colours);
    await writeAll(context.io.stdout, `${context.onTerminal ? guardScreen(line) : line}\n`);
  }
}
