import { changeOf, type EnvironmentChange } from "../policy/bottles/change-script.ts";
import { canonicalJson } from "../policy/supervise/content-hash.ts";
import type { Effect, Subject } from "../supervise/effect.ts";
import { requireRemediable } from "./remediate-run.ts";
import type { RunParts } from "./run-parts.ts";
import type { Runs } from "./runs.ts";

/** Another environment for a run that is at work. It is dispatched by the run's own backend: what that one does not declare is not done. */
export function capabilityEffect(parts: RunParts, runs: () => Runs): Effect<"capability-block"> {
  const current = ({ identity }: Subject): { environment: string; changes: EnvironmentChange[] } | null => {
    try {
      const { environment, changes } = parts.states.read(identity);
      return { environment, changes: changes.map(changeOf) };
    } catch {
      return null; // its state is gone, and with it what could be changed
    }
  };
  return {
    look(subject, proposed) {
      const now = current(subject);
      return { current: now, after: now && { ...now, changes: [...now.changes, changeOf(proposed)] }, routes: [] };
    },
    holds(subject, proposed) {
      const change = canonicalJson(changeOf(proposed));
      return current(subject)?.changes.some((one) => canonicalJson(one) === change) ?? false;
    },
    async apply(subject, proposed, _scope, { by: { proposal_id }, reason, check, settle, progress }) {
      const metadata = parts.states.read(subject.identity);
      requireRemediable(parts, metadata);
      // A daemon that ended too early has done it, and could not write down the answer.
      if (!metadata.changes.some((one) => one.proposal_id === proposal_id)) {
        check();
        const { signal } = new AbortController(); // whoever approves may go away
        const { packages = [], steps = [] } = proposed;
        await runs().remediate(subject.identity, { packages, steps, proposal_id, reason }, { signal, progress });
      }
      settle();
    },
  };
}
