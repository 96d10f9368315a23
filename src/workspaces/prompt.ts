import type { Store } from "../contracts/store.ts";

/**
 * What a shell at a terminal shows before each line: which workspace one is in. Names and ids hold nothing that any shell would expand, so it is the
 * same in all that read it.
 */
export function promptOf(store: Pick<Store, "findWorkspace">, workspaceId: string): { PS1: string } {
  return { PS1: `${store.findWorkspace(workspaceId)?.name ?? workspaceId} $ ` };
}
