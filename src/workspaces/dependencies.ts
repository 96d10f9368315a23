import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Backend } from "../contracts/backend.ts";
import type { Environments } from "../contracts/environment.ts";
import type { Gates } from "../contracts/gates.ts";
import type { Events } from "../contracts/events.ts";
import type { RememberedIncludes } from "./remembered-includes.ts";
import type { Seeds } from "../contracts/seeds.ts";
import type { Store } from "../contracts/store.ts";
import type { Config } from "../model/config.ts";
import type { EgressTokens } from "./egress-tokens.ts";
import type { Journal } from "./journal.ts";
import type { Layers } from "./layers.ts";
import type { Scratch } from "./scratch.ts";
import type { Trash } from "./trash.ts";

/** What the verbs need; the composition root picks it. */
export interface Dependencies {
  readonly home: string;
  readonly store: Store;
  readonly events: Events;
  readonly journal: Journal;
  readonly layers: Layers;
  readonly scratch: Scratch;
  readonly trash: Trash;
  readonly backends: ReadonlyMap<string, Backend>;
  readonly environments: Environments;
  readonly seeds: Seeds;
  readonly includes: RememberedIncludes;
  readonly gates: Gates;
  readonly tokens: EgressTokens;
  readonly clock: Clock;
  readonly log: Log;
  /** `config.yaml` as it is now; throws CONFIG_INVALID. */
  config(): Config;
  /** To be called when the set of running sandboxes has changed without a request. */
  workChanged(): void;
}
