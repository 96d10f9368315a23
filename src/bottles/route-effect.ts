import type { StoredWorkspace } from "../contracts/store.ts";
import type { OnMatch, Route } from "../model/egress.ts";
import { failure } from "../model/error-codes.ts";
import type { ProposedRoute } from "../model/proposal.ts";
import { areReached } from "../policy/supervise/already-reached.ts";
import { canonicalJson } from "../policy/supervise/content-hash.ts";
import { mergeRoutes, routesFor, shadowed } from "../policy/supervise/merge-routes.ts";
import type { Effect, Subject } from "../supervise/effect.ts";
import { changeRoutes } from "../workspaces/change-routes.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { isEgressDoor } from "../workspaces/egress-door.ts";
import { policyOf } from "../workspaces/egress.ts";
import { isVisible } from "../workspaces/present.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import { type BottleRoutes, type BottleWrite, findBottleRoutes, prepareBottleRoutes } from "./bottle-routes.ts";

interface Parts {
  readonly deps: Dependencies;
  readonly workspaces: Workspaces;
}

/** What is compared and shown: the routes that decide for the proposed hosts, in the run and in the bottle's file. */
interface Current {
  readonly run: readonly Route[] | null;
  readonly bottle: BottleRoutes | null;
}

/** Routes that an agent asked for: into what its run lets out, and into its bottle's file where the operator says so. */
export function routeEffect({ deps, workspaces }: Parts): Effect<"egress-block"> {
  const current = (subject: Subject, routes: readonly ProposedRoute[]): Current => {
    const stored = servedWorkspace(deps, subject);
    const name = subject.bottle_names.at(-1);
    return {
      run: stored ? routesFor(policyOf(stored).routes ?? [], routes) : null,
      bottle: (name === undefined ? undefined : findBottleRoutes(deps.home, name, routes)) ?? null,
    };
  };
  return {
    look(subject, { routes }) {
      const now = current(subject, routes);
      const merged = (before: readonly Route[]) => withAdded(before, routes);
      const after = {
        run: now.run && merged(now.run),
        bottle: now.bottle && { ...now.bottle, routes: merged(now.bottle.routes) },
      };
      return { current: now, after, routes: now.run ?? now.bottle?.routes ?? [], bottleRoutes: now.bottle?.routes };
    },
    holds(subject, { routes }) {
      const { run } = current(subject, routes);
      return run !== null && canonicalJson(withAdded(run, routes)) === canonicalJson(run);
    },
    async apply(subject, { routes }, scope, { by, check, settle }) {
      const writeBottle = scope === "bottle" ? prepareBottle(deps, subject, routes) : undefined;
      const isThere = servedWorkspace(deps, subject) !== undefined;
      if (!isThere && !writeBottle)
        throw failure("RUN_NOT_ACTIVE", `Run "${subject.identity}" is gone: there is nothing to give the route to`, {
          hint: "Approve it into the bottle's file with --scope bottle, or reject it",
        });
      if (!isThere) {
        check();
        await settleWith(writeBottle, settle);
        return;
      }
      // The gate lets one request pass when it hears the answer; the policy stays.
      if (scope === "once") {
        check();
        settle();
        return;
      }
      await changeRoutes(deps, workspaces, subject.workspace_id, {
        by,
        change(before) {
          check();
          if (areReached(routes, before)) return before;
          const merged = mergeRoutes(before, routes, findingOn(before));
          const hidden = shadowed(merged, routes);
          if (hidden)
            throw failure("INTERNAL", `The route for ${hidden.host} would stand behind that for ${hidden.by}`);
          return merged;
        },
        settle: (write) => settleWith(writeBottle, () => settle(write)),
      });
    },
  };
}

/** What is shown of an approval: where nothing is added, nothing changes. */
const withAdded = (routes: readonly Route[], proposed: readonly ProposedRoute[]): readonly Route[] =>
  areReached(proposed, routes) ? routes : mergeRoutes(routes, proposed, undefined);

function prepareBottle(
  { home }: Dependencies,
  { identity, bottle_names: names }: Subject,
  routes: readonly ProposedRoute[],
): BottleWrite {
  const name = names.at(-1);
  if (name !== undefined && findBottleRoutes(home, name, routes)) return prepareBottleRoutes(home, name, routes);
  throw failure("INVALID_ARGUMENT", `"${identity}" has no bottle in a file that a route could be written into`, {
    hint: "Approve it for this run with --scope run",
  });
}

/** The file first: an answer that says `bottle` is never without it. An answer that cannot be written down takes it back. */
async function settleWith(writeBottle: BottleWrite | undefined, settle: () => void): Promise<void> {
  const undo = await writeBottle?.();
  try {
    settle();
  } catch (error) {
    await undo?.();
    throw error;
  }
}

/** As the other routes of the run have it: held where the bottle is supervised. */
const findingOn = (routes: readonly Route[]): OnMatch =>
  routes.some(({ dlp }) => dlp?.outbound_on_match === "supervise") || routes.length === 0 ? "supervise" : "block";

/** The workspace of whoever asks, while it has a gate for what it lets out. */
function servedWorkspace(deps: Dependencies, { workspace_id: id }: Subject): StoredWorkspace | undefined {
  const stored = deps.store.findWorkspace(id);
  return stored && isVisible(stored) && stored.doors.some(isEgressDoor) ? stored : undefined;
}
