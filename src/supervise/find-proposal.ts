import type { Store, StoredProposal } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";

/** By its id, or by the first characters of it. */
export function findProposal(store: Store, id: string): StoredProposal {
  const found = store.findProposal(id);
  if (found) return found;
  const ids = /^[0-9a-z-]+$/.test(id) ? store.findProposalIds(id, 2) : [];
  if (ids.length > 1)
    throw failure("PROPOSAL_NOT_FOUND", `Several proposals begin with "${id}"`, {
      hint: "Give more characters of the id",
    });
  const only = ids[0] === undefined ? undefined : store.findProposal(ids[0]);
  if (only) return only;
  throw failure("PROPOSAL_NOT_FOUND", `There is no proposal "${id}"`);
}
