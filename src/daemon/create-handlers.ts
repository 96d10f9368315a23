import { operationRow } from "../model/operations.ts";
import { commandHandlers } from "./handlers/command-handlers.ts";
import { eventHandlers } from "./handlers/event-handlers.ts";
import { fileHandlers } from "./handlers/file-handlers.ts";
import { hostHandlers } from "./handlers/host-handlers.ts";
import { serviceHandlers } from "./handlers/service-handlers.ts";
import { shellHandlers } from "./handlers/shell-handlers.ts";
import { snapshotHandlers } from "./handlers/snapshot-handlers.ts";
import { workspaceHandlers } from "./handlers/workspace-handlers.ts";
import type { Handlers } from "./handlers.ts";
import type { Verbs } from "./verbs.ts";

/** The verbs as operations of the wire. */
export function createHandlers(verbs: Verbs): Handlers {
  return keepingAlive(verbs, {
    ...workspaceHandlers(verbs),
    ...commandHandlers(verbs),
    ...fileHandlers(verbs),
    ...snapshotHandlers(verbs),
    ...serviceHandlers(verbs),
    ...shellHandlers(verbs),
    ...eventHandlers(verbs),
    ...hostHandlers(verbs),
  });
}

type AnyHandler = (input: { workspace_id?: string }, context: unknown) => Promise<unknown>;

/** No workspace expires while a call about it goes on. */
function keepingAlive({ workspaces }: Verbs, handlers: Handlers): Handlers {
  const wrapped = Object.entries(handlers as unknown as Record<string, AnyHandler>).map(
    ([name, handle]): [string, AnyHandler] => [
      name,
      async (input, context) => {
        const { workspace_id: id } = input;
        const { about } = operationRow(name as keyof Handlers);
        return id === undefined || about === "host"
          ? await handle(input, context)
          : await workspaces.during(id, about === "sandbox", () => handle(input, context));
      },
    ],
  );
  // The same handlers under the same names, which the compiler does not see through the entries.
  return Object.fromEntries(wrapped) as unknown as Handlers;
}
