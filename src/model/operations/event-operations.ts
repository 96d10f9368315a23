import { EVENT_KINDS, type EventKind, type EventPage, type EventsWatched } from "../event.ts";
import { type Operation, typeOnly } from "../operation.ts";

const KINDS = Object.keys(EVENT_KINDS) as [EventKind, ...EventKind[]];

export const eventOperations = {
  /** The log of events: what it has after `since`, and then what comes. About one workspace also when that is gone. */
  watchEvents: {
    kind: "events",
    input: ({ z, workspaceId, identity }) =>
      z.strictObject({
        /** The sequence after which to begin; without it, what comes from now on, or with `follow: false` all that is kept. */
        since: z.number().int().min(0).optional(),
        workspace_id: workspaceId.optional(),
        identity: identity.optional(),
        kinds: z.array(z.enum(KINDS)).min(1).max(KINDS.length).optional(),
        /** False: ends with what there is now. */
        follow: z.boolean().optional(),
      }),
    event: typeOnly<EventPage>(),
    result: typeOnly<EventsWatched>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "watching",
    cli: "events",
    mcp: null,
  },
} as const satisfies Record<string, Operation>;
