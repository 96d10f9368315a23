import { systemClock } from "../base/clock.ts";
import { currentIdMap } from "../base/id-map.ts";
import { ContainerBackend } from "../backends/container/container-backend.ts";
import type { Backend } from "../contracts/backend.ts";
import { createEnvironments } from "../environments/environments.ts";
import { createSeeds } from "../seeds/create-seeds.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { Journal } from "../workspaces/journal.ts";
import { Layers } from "../workspaces/layers.ts";
import { Scratch } from "../workspaces/scratch.ts";
import { Services } from "../workspaces/services/services.ts";
import { Shells } from "../workspaces/shells/shells.ts";
import { Workspaces } from "../workspaces/workspaces.ts";
import type { Composition, Surroundings } from "./composition.ts";
import { createHandlers } from "./create-handlers.ts";

/** The composition root: the one place that picks adapters. */
export function compose({ places, store, log, config, workChanged }: Surroundings): Promise<Composition> {
  const idMap = currentIdMap();
  const adapters = { cachePath: places.cache, idMap, log };
  const deps: Dependencies = {
    home: places.home,
    store,
    journal: new Journal(store, systemClock, log),
    layers: new Layers(places.home, store),
    scratch: new Scratch(places.home, log),
    backends: new Map<string, Backend>([["container", new ContainerBackend({ home: places.home, idMap })]]),
    environments: createEnvironments(adapters),
    seeds: createSeeds(adapters),
    clock: systemClock,
    log,
    config,
    workChanged,
  };
  const services = new Services(deps);
  const shells = new Shells(deps);
  const workspaces = new Workspaces(deps, services, shells);
  return Promise.resolve({
    handlers: createHandlers({ deps, workspaces, services, shells, places }),
    hasWorkToHold: () => workspaces.needsDaemon,
    recover: () => workspaces.recover(),
    close: () => workspaces.close(),
  });
}
