import type { Places } from "../base/paths.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import type { Services } from "../workspaces/services/services.ts";
import type { Shells } from "../workspaces/shells/shells.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";

/** The product's verbs, and what they share. */
export interface Verbs {
  readonly deps: Dependencies;
  readonly workspaces: Workspaces;
  readonly services: Services;
  readonly shells: Shells;
  readonly places: Places;
}
