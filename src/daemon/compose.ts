import { fileURLToPath } from "node:url";
import { systemClock } from "../base/clock.ts";
import { type IdMap, currentIdMap } from "../base/id-map.ts";
import type { Log } from "../base/log.ts";
import type { Places } from "../base/paths.ts";
import { ContainerBackend } from "../backends/container/container-backend.ts";
import { DockerBackend } from "../backends/docker/docker-backend.ts";
import { SmolmachinesBackend } from "../backends/smolmachines/smolmachines-backend.ts";
import { VmBackend } from "../backends/vm/vm-backend.ts";
import type { RunParts } from "../bottles/run-parts.ts";
import { RunStates } from "../bottles/run-states.ts";
import { Runs } from "../bottles/runs.ts";
import type { Backend } from "../contracts/backend.ts";
import { createEnvironments } from "../environments/environments.ts";
import { createGates } from "../gate-processes/gate-processes.ts";
import { EventLog } from "../events/event-log.ts";
import { createSeeds } from "../seeds/create-seeds.ts";
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
  const runs = new Runs(parts);
  return {
    handlers: createHandlers({ ...parts, places }, runs),
    parts,
    hasWorkToHold: () => workspaces.needsDaemon,
    recover: async () => {
      for (const backend of backends.values()) await backend.recover?.();
      await workspaces.recover();
      runs.recover();
    },
    close: async () => {
      await workspaces.close();
      events.close();
      for (const backend of backends.values()) await backend.close?.();
    },
  };
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
