import { createHash } from "node:crypto";
import type { ClocheError } from "../../base/errors.ts";
import { isClocheError } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import type { Labels, Workspace } from "../../model/workspace.ts";
import { WORKSPACE_ID } from "../../model/vocabulary.ts";
import type { Cloche } from "../../sdk/cloche.ts";

/** Labels that a tool neither sets nor sees begin so. */
const RESERVED = "cloche.";
/** Says whose a workspace is; its value is the `owner`. */
export const OWNER_LABEL = `${RESERVED}mcp`;

/** The workspaces that a server's tools reach: those with its label, or, with `all`, every workspace. */
export class OwnedWorkspaces {
  readonly #cloche: Cloche;
  readonly #owner: string;
  readonly #all: boolean;

  constructor(cloche: Cloche, owner: string, all: boolean) {
    this.#cloche = cloche;
    this.#owner = owner;
    this.#all = all;
  }

  get seesAll(): boolean {
    return this.#all;
  }

  async list(signal?: AbortSignal): Promise<Workspace[]> {
    const { workspaces } = await this.#cloche.listWorkspaces({ signal });
    return workspaces.filter((one) => this.#isReached(one));
  }

  /**
   * The whole id of a workspace that a call names by its id or the beginning of it.
   * SECURITY: one of somebody else is answered as one that is not there, and is not told apart by a prefix, a name or a hint (G-23)
   */
  async find(id: string, signal?: AbortSignal): Promise<string> {
    if (WORKSPACE_ID.test(id)) {
      const found = await this.#status(id, signal);
      if (found && this.#isReached(found)) return found.workspace_id;
      throw notFound(id, []);
    }
    const reached = await this.list(signal);
    const matches = /^ws-[0-9a-z]*$/.test(id) ? reached.filter((one) => one.workspace_id.startsWith(id)) : [];
    if (matches.length > 1) throw failure("WORKSPACE_AMBIGUOUS", `More than one workspace id starts with "${id}"`);
    if (!matches[0]) throw notFound(id, reached);
    return matches[0].workspace_id;
  }

  /** The labels of what is made or changed here. */
  labelled(labels: Labels | undefined): Labels {
    refuseReserved(Object.keys(labels ?? {}));
    return { ...labels, [OWNER_LABEL]: this.#owner };
  }

  /** SECURITY: a key that somebody else used gives nothing of theirs (G-23). */
  key(given: string): string {
    return `mcp-${createHash("sha256").update(`${this.#owner}\0${given}`).digest("hex")}`;
  }

  #isReached({ labels }: Pick<Workspace, "labels">): boolean {
    return this.#all || labels[OWNER_LABEL] === this.#owner;
  }

  async #status(id: string, signal: AbortSignal | undefined): Promise<Workspace | undefined> {
    try {
      return await this.#cloche.statusWorkspace(id, { signal });
    } catch (error) {
      if (isClocheError(error) && error.code === "WORKSPACE_NOT_FOUND") return undefined;
      throw error;
    }
  }
}

/** SECURITY: whose a workspace is cannot be said by who uses it (G-23). */
export function refuseReserved(keys: readonly string[]): void {
  const reserved = keys.find((key) => key.startsWith(RESERVED));
  if (reserved === undefined) return;
  throw failure(
    "INVALID_ARGUMENT",
    `Cannot set the label "${reserved}": keys that begin with "${RESERVED}" are reserved`,
    {
      hint: "Choose another key",
    },
  );
}

/** The same without the labels that are not the caller's. */
export function withoutReserved<Result>(result: Result): Result {
  if (typeof result !== "object" || result === null || !("labels" in result)) return result;
  const labels = Object.entries(result.labels as Labels).filter(([key]) => !key.startsWith(RESERVED));
  return { ...result, labels: Object.fromEntries(labels) };
}

function notFound(id: string, reached: readonly Workspace[]): ClocheError {
  const named = reached.filter(({ name }) => name === id).map(({ workspace_id: one }) => one);
  return failure("WORKSPACE_NOT_FOUND", `There is no workspace "${id}"`, {
    ...(named.length > 0 && { hint: `"${id}" is the name of ${named.join(", ")}; give the id` }),
  });
}
