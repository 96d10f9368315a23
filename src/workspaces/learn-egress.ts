import type { EgressLearned } from "../model/egress-seen.ts";
import type { EventOf } from "../model/event.ts";
import { type SeenRequest, learnRoutes } from "../policy/egress/learn-routes.ts";
import type { Dependencies } from "./dependencies.ts";
import { policyOf } from "./egress.ts";

/** Different requests; one that comes again costs nothing. */
const MAX_SEEN = 20_000;

/** What a workspace has sent, as far as the log tells it, and what would cover it. */
export async function learnEgress(deps: Dependencies, workspaceId: string): Promise<EgressLearned> {
  const { events, store } = deps;
  const kinds = new Set(["egress.request", "egress.denied"] as const);
  const seen = new Map<string, SeenRequest & { count: number }>();
  let denied = 0;
  let all = 0;
  for await (const page of events.read(events.bounds().oldest - 1, { workspaceId, kinds })) {
    for (const event of page.events) {
      if (event.kind !== "egress.request" && event.kind !== "egress.denied") continue; // a gap in the log
      const request = seenIn(event);
      all++;
      if (request.isDenied) denied++;
      const key = JSON.stringify(request);
      const known = seen.get(key);
      if (known) known.count++;
      else if (seen.size < MAX_SEEN) seen.set(key, { ...request, count: 1 });
    }
  }
  const stored = store.findWorkspace(workspaceId);
  const { hosts, routes, denied: refused } = learnRoutes([...seen.values()], stored ? policyOf(stored) : {});
  return {
    workspace_id: workspaceId,
    request_count: all,
    denied_count: denied,
    hosts: hosts.map((one) => ({ ...one, ...countsOf(one.host, [...seen.values()]) })),
    egress: { routes },
    denied: refused,
  };
}

function seenIn(event: EventOf<"egress.request" | "egress.denied">): SeenRequest {
  const { method, host, port, path } = event;
  return { method, host, port, path, isDenied: event.kind === "egress.denied" && event.code === "EGRESS_DENIED" };
}

function countsOf(
  host: string,
  seen: readonly (SeenRequest & { count: number })[],
): { requests: number; denied: number } {
  const own = seen.filter((one) => one.host === host);
  const sum = (list: typeof own) => list.reduce((total, { count }) => total + count, 0);
  return { requests: sum(own), denied: sum(own.filter(({ isDenied }) => isDenied)) };
}
