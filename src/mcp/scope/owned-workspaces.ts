import { createHash } from "node:crypto";
import type { ClocheError } from "../../base/errors.ts";
import { isClocheError } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import type { Labels, Workspace } from "../../model/workspace.ts";
import { WORKSPACE_ID } from "../../model/vocabulary.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import type { ServerAccess } from "./server-access.ts";

/** Labels that a tool neither sets nor sees begin so. */
const RESERVED = "cloche.";
/** Of ids that are told. */
const TOLD = 5;
/** Says whose a workspace is; its value is the `owner`. */
export const OWNER_LABEL = `${RESERVED}mcp`;

type Owners = Pick<ServerAccess, "owner" | "reached" | "allWorkspaces">;

/** The workspaces that a server's tools reach: those with its label or one that it reaches, or every workspace. */
export class OwnedWorkspaces {
  readonly #cloche: Cloche;
  readonly #owner: string;
  readonly #reached: ReadonlySet<string | undefined>;
  readonly #all: boolean;

  constructor(cloche: Cloche, { owner, reached, allWorkspaces }: Owners) {
    this.#cloche = cloche;
    this.#owner = owner;
    this.#reached = new Set(reached);
    this.#all = allWorkspaces;
  }

  get seesAll(): boolean {
    return this.#all;
  }

  async list(signal?: AbortSignal): Promise<Workspace[]> {
    const { workspaces } = await this.#cloche.listWorkspaces({ signal });
    return workspaces.filter((one) => this.#isReached(one));
  }

  /**
   * The whole id of a workspace that a call names by its id, its name or the beginning of its id, in this order.
   * SECURITY: one of somebody else is answered as one that is not there, and is not told apart by a prefix, a name or a hint (G-23). The id of one that is
   * gone leads to no other that has it as its name (G-33).
   */
  async find(word: string, signal?: AbortSignal): Promise<string> {
    const asked = WORKSPACE_ID.test(word) ? await this.#status(word, signal) : undefined;
    if (asked?.found && asked.found.workspace_id === word && this.#isReached(asked.found)) return word;
    if (asked?.gone && this.#isReached(asked.gone)) throw asked.gone.error;
    const reached = await this.list(signal);
    const named = reached.filter(({ name }) => name === word);
    const begun = /^ws-[0-9a-z]*$/.test(word) ? reached.filter((one) => one.workspace_id.startsWith(word)) : [];
    const [found, another] = (named.length > 0 ? named : begun).map(({ workspace_id: id }) => id);
    if (found !== undefined && another === undefined) return found;
    if (another !== undefined) throw ambiguous(word, named, begun);
    const gone = asked ? undefined : (await this.#status(word, signal)).gone;
    throw gone && this.#isReached(gone) ? gone.error : notFound(word);
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
    return this.#all || this.#reached.has(labels[OWNER_LABEL]);
  }

  /** What the daemon knows of it: a workspace, or one that is gone, which has a label that says whose it was. */
  async #status(word: string, signal: AbortSignal | undefined): Promise<{ found?: Workspace; gone?: GoneWorkspace }> {
    try {
      return { found: await this.#cloche.statusWorkspace(word, { signal }) };
    } catch (error) {
      if (!isClocheError(error) || !["WORKSPACE_NOT_FOUND", "WORKSPACE_AMBIGUOUS"].includes(error.code)) throw error;
      const labels = error.details?.["labels"];
      if (typeof labels !== "object" || labels === null) return {};
      // SECURITY: what a tool is told has no label that is not the caller's (G-23)
      const told = failure("WORKSPACE_NOT_FOUND", error.message);
      return { gone: { labels: labels as Labels, error: told } };
    }
  }
}

interface GoneWorkspace extends Pick<Workspace, "labels"> {
  readonly error: ClocheError;
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

const notFound = (word: string): ClocheError => failure("WORKSPACE_NOT_FOUND", `There is no workspace "${word}"`);

function ambiguous(word: string, named: readonly Workspace[], begun: readonly Workspace[]): ClocheError {
  const isName = named.length > 0;
  const ids = (isName ? named : begun).slice(0, TOLD).map(({ workspace_id: id }) => id);
  const what = isName ? `workspace is named "${word}"` : `workspace id starts with "${word}"`;
  return failure("WORKSPACE_AMBIGUOUS", `More than one ${what}: ${ids.join(", ")}`, {
    ...(isName && { hint: "Give the id of one of them" }),
  });
}
