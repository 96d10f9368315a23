import type { Log } from "../base/log.ts";
import type { Places } from "../base/paths.ts";
import type { Store } from "../contracts/store.ts";
import type { Config } from "../model/config.ts";
import type { Handlers } from "./handlers.ts";

/** What the daemon's life gives to its parts. */
export interface Surroundings {
  readonly places: Places;
  /** Held alone; closed by the daemon, after `Composition.close`. */
  readonly store: Store;
  readonly log: Log;
  /** `config.yaml` as it is now; throws CONFIG_INVALID. */
  readonly config: () => Config;
  /** To be called when `hasWorkToHold` may have changed without a request, such as after a workspace was reaped. */
  readonly workChanged: () => void;
}

/** The product's verbs, ready to be served. */
export interface Composition {
  readonly handlers: Handlers;
  /** Whether there is something for which the daemon has to stay: it does not end by itself then. */
  hasWorkToHold(): boolean;
  /** Takes up what an earlier daemon left. Before the first request. */
  recover(): Promise<void>;
  /** Lets go of everything, and ends nothing: sandboxes stay. */
  close(): Promise<void>;
}

export type Compose = (surroundings: Surroundings) => Promise<Composition>;
