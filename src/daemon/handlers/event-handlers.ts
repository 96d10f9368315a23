import type { EventFilter } from "../../contracts/events.ts";
import { WORKSPACE_ID } from "../../model/names.ts";
import type { eventOperations } from "../../model/operations/event-operations.ts";
import { type HandlersOf, isDaemonStopping } from "../handlers.ts";
import type { Verbs } from "../verbs.ts";

/** After so many events that were not asked for, a watcher is told how far it has come: so it is not behind when it comes back. */
const MARK_EVERY = 1000;

export function eventHandlers({ deps: { events, store }, workspaces }: Verbs): HandlersOf<typeof eventOperations> {
  /** Of one that is gone the log still tells; it has to be named in full. */
  const idOf = (id: string): string => {
    const isTold = WORKSPACE_ID.test(id) && store.readEvents(0, { workspaceId: id }, 1).events.length > 0;
    return isTold ? id : workspaces.find(id).workspaceId;
  };
  return {
    watchEvents: async ({ since, workspace_id: id, identity, kinds, follow = true }, { signal, emit }) => {
      const workspaceId = id === undefined ? undefined : idOf(id);
      const filter: EventFilter = { workspaceId, identity, kinds: kinds && new Set(kinds) };
      const { oldest, newest } = events.bounds();
      const from = since ?? (follow ? newest : oldest - 1);
      const pages = follow ? events.follow(from, filter, signal) : events.read(from, filter);
      let through = from;
      // First of all, so that whoever waits for this may cause what is to be watched.
      await emit.event({ events: [], through });
      for await (const page of pages) {
        if (page.events.length === 0 && page.through - through < MARK_EVERY) continue;
        through = page.through;
        await emit.event(page);
      }
      if (isDaemonStopping(signal)) return { through, because: "daemon_stopped" };
      signal.throwIfAborted();
      return { through, because: "end" };
    },
  };
}
