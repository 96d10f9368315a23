import type { EventFilter } from "../contracts/events.ts";
import { isDaemonStopping } from "./caller-leaves.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Verb } from "./verb.ts";
import type { Workspaces } from "./workspaces.ts";

/** After so many events that were not asked for, a watcher is told how far it has come: so it is not behind when it comes back. */
const MARK_EVERY = 1000;

/** The log from a sequence on, pushed as fast as the caller takes it. */
export function watchEvents({ events }: Dependencies, workspaces: Workspaces): Verb<"watchEvents"> {
  return async ({ since, workspace_id: id, identity, kinds, follow = true }, { signal, emit }) => {
    const workspaceId = id === undefined ? undefined : workspaces.findTold(id);
    const filter: EventFilter = { workspaceId, identity, kinds: kinds && new Set(kinds) };
    const { oldest, newest } = events.bounds();
    const from = since ?? (follow ? newest : oldest - 1);
    const pages = follow ? events.follow(from, filter, signal) : events.read(from, filter);
    let through = from;
    // First of all: a client may wait for this and then cause the events that it wants to see.
    await emit.event({ events: [], through });
    for await (const page of pages) {
      if (page.events.length === 0 && page.through - through < MARK_EVERY) continue;
      through = page.through;
      await emit.event(page);
    }
    if (isDaemonStopping(signal)) return { through, because: "daemon_stopped" };
    signal.throwIfAborted();
    return { through, because: "end" };
  };
}
