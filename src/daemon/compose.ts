import { fileURLToPath } from "node:url";
import { systemClock } from "../base/clock.ts";
import { type IdMap, currentIdMap } from "../base/id-map.ts";
import type { Log } from "../base/log.ts";
import type { Places } from "../base/paths.ts";
import { operatorName } from "../base/operator.ts";
import { packageVersion } from "../base/version.ts";
import { Auditor } from "../audit/auditor.ts";
import { ContainerBackend } from "../backends/container/container-backend.ts";
import { DockerBackend } from "../backends/docker/docker-backend.ts";
import { SmolmachinesBackend } from "../backends/smolmachines/smolmachines-backend.ts";
import { VmBackend } from "../backends/vm/vm-backend.ts";
import type { RunParts } from "../bottles/run-parts.ts";
import { RunStates } from "../bottles/run-states.ts";
import { IdleAgents } from "../bottles/idle-agents.ts";
import { Runs } from "../bottles/runs.ts";
import { settleChanges } from "../bottles/unfinished-move.ts";
import type { Backend } from "../contracts/backend.ts";
import { createEnvironments } from "../environments/environments.ts";
import { createGates } from "../gate-processes/gate-processes.ts";
import { EventLog } from "../events/event-log.ts";
import { createSeeds } from "../seeds/create-seeds.ts";
import { approvalVerbs } from "../supervise/approval-verbs.ts";
import { Proposals } from "../supervise/proposals.ts";
import { Rules } from "../supervise/rules.ts";
import { OtlpExporter } from "../telemetry/otlp-exporter.ts";
import { otlpTarget } from "../telemetry/otlp-target.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { EgressTokens } from "../workspaces/egress-tokens.ts";
import { Journal } from "../workspaces/journal.ts";
import { Layers } from "../workspaces/layers.ts";
import type { WorkspaceParts } from "../workspaces/operations/create-operations.ts";
import { RememberedIncludes } from "../workspaces/remembered-includes.ts";
import { Scratch } from "../workspaces/scratch.ts";
import { Trash } from "../workspaces/trash.ts";
import { Services } from "../workspaces/services/services.ts";
import { Shells } from "../workspaces/shells/shells.ts";
import { Workspaces } from "../workspaces/workspaces.ts";
import type { Composition, Surroundings } from "./composition.ts";
import { createHandlers } from "./create-handlers.ts";
import { ProposalHook } from "./proposal-hook.ts";
import { proposalEffects, subjectOf } from "./proposal-effects.ts";

/** Known as a file to run: a gate outlives the daemon, and shares no memory with it. */
const GATE_PROGRAM = fileURLToPath(new URL("../gate/main.js", import.meta.url));

/** What a backend is made with. */
export interface BackendSurroundings extends Places {
  readonly idMap: IdMap;
  readonly log: Log;
}

export interface OwnComposition extends Composition {
  /** For what runs in the daemon and is no operation of the wire. */
  readonly parts: WorkspaceParts;
}

/** The composition root: the one place that picks adapters. */
export const compose: (surroundings: Surroundings) => Promise<OwnComposition> = composeWith(() => []);

/** The same with further backends. One with the name of a built-in backend takes its place. */
export function composeWith(
  more: (surroundings: BackendSurroundings) => readonly Backend[],
): (surroundings: Surroundings) => Promise<OwnComposition> {
  return (surroundings) => Promise.resolve(composeAll(surroundings, more));
}

function composeAll(
  { places, store, log, config, workChanged }: Surroundings,
  more: (surroundings: BackendSurroundings) => readonly Backend[],
): OwnComposition {
  const idMap = currentIdMap();
  const all = [...createBackends({ ...places, idMap, log }), ...more({ ...places, idMap, log })];
  const backends = new Map(all.map((backend) => [backend.name, backend]));
  const adapters = { cachePath: places.cache, home: places.home, idMap, log };
  const events = new EventLog({ store, clock: systemClock, log });
  const auditor = new Auditor({ home: places.home, events, log });
  const exporter = createExporter(events, log);
  const trash = new Trash(places.home, log);
  const deps: Dependencies = {
    home: places.home,
    store,
    events,
    journal: new Journal({ store, events, clock: systemClock, log }),
    layers: new Layers(places.home, { store, backends, trash }),
    scratch: new Scratch(places.home, log),
    trash,
    backends,
    environments: createEnvironments(adapters),
    seeds: createSeeds(adapters),
    includes: new RememberedIncludes(places.home),
    gates: createGates({ home: places.home, program: GATE_PROGRAM, log }),
    tokens: new EgressTokens({ clock: systemClock, log }),
    clock: systemClock,
    log,
    config,
    workChanged,
  };
  const services = new Services(deps);
  const shells = new Shells(deps);
  const workspaces = new Workspaces(deps, services, shells);
  const parts: RunParts = { deps, workspaces, services, shells, states: new RunStates(places.home) };
  const operator = operatorName();
  const rules = new Rules({ store, events, clock: systemClock, operator });
  const proposals = new Proposals({
    store,
    events,
    gates: deps.gates,
    clock: systemClock,
    log,
    rules,
    effects: proposalEffects(parts, () => runs),
    subjectOf: (workspaceId) => subjectOf(parts, workspaceId),
    operator,
  });
  // Before any gate tells what was asked while no daemon ran.
  const hook = new ProposalHook({ events, config, log });
  const runs: Runs = new Runs(parts, (identity) => proposals.approvedRoutes(identity));
  const idleAgents = new IdleAgents(parts, runs);
  return {
    handlers: { ...createHandlers({ ...parts, places }, runs, auditor), ...approvalVerbs(proposals, rules) },
    parts,
    hasWorkToHold: () => workspaces.needsDaemon,
    recover: async () => {
      auditor.start();
      exporter?.start();
      for (const backend of backends.values()) await backend.recover?.();
      await workspaces.recover();
      await runs.recover();
      await settleChanges(parts, proposals);
    },
    close: async () => {
      await workspaces.close();
      proposals.close();
      await hook.close();
      await idleAgents.close();
      await auditor.close();
      await exporter?.close();
      events.close();
      for (const backend of backends.values()) await backend.close?.();
    },
  };
}

/** Where the environment that the daemon was started in asks for it. */
function createExporter(events: EventLog, log: Log): OtlpExporter | undefined {
  const target = otlpTarget(process.env);
  if (typeof target === "string") log.warn("events go to no collector", { reason: target });
  return typeof target === "object" ? new OtlpExporter({ target, events, log, version: packageVersion() }) : undefined;
}

/** In the order in which they are told; making one starts nothing. */
function createBackends({ home, cache, idMap, log }: BackendSurroundings): Backend[] {
  return [
    new ContainerBackend({ home, idMap }),
    new DockerBackend({ home, cache, idMap, log }),
    new VmBackend({ home, cache, idMap, log }),
    new SmolmachinesBackend({ home, cache, idMap, log }),
  ];
}
