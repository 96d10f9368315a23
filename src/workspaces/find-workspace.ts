import type { ClocheError } from "../base/errors.ts";
import { formatTime } from "../base/local-time.ts";
import type { Store, StoredWorkspace } from "../contracts/store.ts";
import type { EventOf } from "../model/event.ts";
import { failure } from "../model/error-codes.ts";
import { WORKSPACE_ID } from "../model/names.ts";
import { runKey } from "./made-for-run.ts";
import { isVisible } from "./present.ts";

/** Of those that a word could mean. */
const MANY = 100;
/** So many are told. */
const TOLD = 5;

/** The workspace that somebody means: with that id, else of the run of that identity, else with that name, else the only one whose id starts so. */
export function findWorkspace(store: Store, word: string): StoredWorkspace {
  const visible = (ids: readonly string[]) => ids.flatMap((id) => store.findWorkspace(id) ?? []).filter(isVisible);
  if (WORKSPACE_ID.test(word)) {
    const [found] = visible([word]);
    if (found) return found;
    // SECURITY: the id of a workspace that is gone leads to no other one that somebody has given it as its name (G-33)
    if (store.findWorkspace(word) || store.findDeletion({ workspaceId: word })) throw workspaceNotFound(store, word);
  }
  // SECURITY: the identity of a run leads to its workspace, whatever name somebody has given that one, or another one (G-33)
  const [ofRun] = visible([store.findByKey(runKey(word)) ?? ""]);
  if (ofRun) return ofRun;
  const named = visible(store.findByName(word, MANY));
  const begun = named.length > 0 || !/^ws-[0-9a-z]*$/.test(word) ? [] : visible(store.findByPrefix(word, MANY));
  const [found, another] = [...named, ...begun];
  if (another) throw ambiguous(word, named, begun);
  if (!found) throw workspaceNotFound(store, word);
  return found;
}

function ambiguous(word: string, named: readonly StoredWorkspace[], begun: readonly StoredWorkspace[]): ClocheError {
  const ids = [...named, ...begun].map(({ workspaceId }) => workspaceId);
  const shown = ids.slice(0, TOLD).join(", ") + (ids.length > TOLD ? `, and ${ids.length - TOLD} more` : "");
  return named.length > 0
    ? failure("WORKSPACE_AMBIGUOUS", `More than one workspace is named "${word}": ${shown}`, {
        hint: "Give the id of one of them",
      })
    : failure("WORKSPACE_AMBIGUOUS", `More than one workspace id starts with "${word}": ${shown}`);
}

/** Says what became of one that there was. */
export function workspaceNotFound(store: Store, word: string): ClocheError {
  if (WORKSPACE_ID.test(word) && store.findWorkspace(word)?.state === "deleting")
    return failure("WORKSPACE_NOT_FOUND", `There is no workspace "${word}": it is being deleted`);
  const deletion = WORKSPACE_ID.test(word) ? store.findDeletion({ workspaceId: word }) : undefined;
  const gone = deletion ?? store.findDeletion({ name: word });
  if (!gone) return failure("WORKSPACE_NOT_FOUND", `There is no workspace "${word}"`);
  const what = gone.workspace_id === word ? "it" : `${gone.workspace_id ?? "one"} of that name`;
  const { workspace_id, time: deleted_at } = gone;
  // What an older version has told has less in it.
  const told: Partial<EventOf<"workspace.deleted">> = gone;
  const { name = null, labels = {}, because = null } = told;
  return failure("WORKSPACE_NOT_FOUND", `There is no workspace "${word}": ${what} was ${endOf(gone)}`, {
    details: { workspace_id, name, labels, because, deleted_at },
  });
}

function endOf({ because, time }: EventOf<"workspace.deleted">): string {
  const at = formatTime(time);
  return because === "expired" ? `deleted by its time to live at ${at}` : `deleted at ${at} by delete`;
}
