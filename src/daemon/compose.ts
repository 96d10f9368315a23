import { systemClock } from "../base/clock.ts";
import { currentIdMap } from "../base/id-map.ts";
import { ContainerBackend } from "../backends/container/container-backend.ts";
import type { Backend } from "../contracts/backend.ts";
import { createEnvironments } from "../environments/environments.ts";
import { createSeeds } from "../seeds/create-seeds.ts";
import { Journal } from "../workspaces/journal.ts";
import { Workspaces } from "../workspaces/workspaces.ts";
import type { Composition, Surroundings } from "./composition.ts";
import { createHandlers } from "./create-handlers.ts";

/** The composition root: the one place that picks adapters. */
export function compose({ places, store, log, config, workChanged }: Surroundings): Promise<Composition> {
  const idMap = currentIdMap();
  const adapters = { cachePath: places.cache, idMap, log };
  const deps = {
    home: places.home,
    store,
    journal: new Journal(store, systemClock, log),
    backends: new Map<string, Backend>([["container", new ContainerBackend({ home: places.home, idMap })]]),
    environments: createEnvironments(adapters),
    seeds: createSeeds(adapters),
    clock: systemClock,
    log,
    config,
    workChanged,
  };
  const workspaces = new Workspaces(deps);
  return Promise.resolve({
    handlers: createHandlers(deps, workspaces, places),
    hasWorkToHold: () => workspaces.hasLive,
    recover: () => workspaces.recover(),
    close: () => workspaces.close(),
  });
}
