import { describe, expect, it } from "vitest";
import type { ClocheError } from "../../base/errors.ts";
import { failure } from "../../model/error-codes.ts";
import type { Workspace } from "../../model/workspace.ts";
import type { Cloche } from "../../sdk/cloche.ts";
import { OWNER_LABEL, OwnedWorkspaces } from "./owned-workspaces.ts";

const OWN = "ws-aaaaaaaaaa";
const OTHER = "ws-bbbbbbbbbb";
const GONE = "ws-cccccccccc";

interface Known {
  readonly name: string | null;
  readonly owner: string;
  readonly isGone?: boolean;
}

/** A daemon that knows these, by the rule of `find-workspace.ts`. */
function daemon(known: Readonly<Record<string, Known>>): Cloche {
  const shown = Object.entries(known).map(([workspace_id, { name, owner, isGone = false }]) => ({
    isGone,
    workspace: { workspace_id, name, labels: { [OWNER_LABEL]: owner } } as unknown as Workspace,
  }));
  const there = shown.filter(({ isGone }) => !isGone).map(({ workspace }) => workspace);
  return {
    listWorkspaces: () => Promise.resolve({ count: there.length, workspaces: there }),
    statusWorkspace: (word: string) => {
      const isMeant = ({ workspace_id, name }: Workspace) => workspace_id === word || name === word;
      const found = there.find(({ workspace_id }) => workspace_id === word) ?? there.find(isMeant);
      const gone = shown.find(({ isGone, workspace }) => isGone && isMeant(workspace))?.workspace;
      if (found && gone?.workspace_id !== word) return Promise.resolve(found);
      const details = gone && { labels: gone.labels, workspace_id: gone.workspace_id };
      const what = `There is no workspace "${word}"${gone ? ": it was deleted" : ""}`;
      return Promise.reject(failure("WORKSPACE_NOT_FOUND", what, { ...(details && { details }) }));
    },
  } as unknown as Cloche;
}

const find = (known: Readonly<Record<string, Known>>, word: string, all = false) =>
  new OwnedWorkspaces(daemon(known), { owner: "me", reached: ["me"], allWorkspaces: all }).find(word);
const refusal = async (known: Readonly<Record<string, Known>>, word: string) =>
  await find(known, word).then(
    (id) => `found ${id}`,
    (error: unknown) => {
      const { code, message, details } = error as ClocheError;
      return `${code}: ${message}${details ? " with details" : ""}`;
    },
  );

describe("a server's tools find", () => {
  it("their own by id, name and beginning, and with --all-workspaces all", async () => {
    const known = { [OWN]: { name: "mine", owner: "me" }, [OTHER]: { name: "theirs", owner: "you" } };
    for (const word of [OWN, "mine", "ws-a", "ws-"]) expect(await find(known, word), word).toBe(OWN);
    expect(await find(known, "theirs", true)).toBe(OTHER);
  });

  it("nothing of others by a name, and are not told that there is one (G-23)", async () => {
    const known = { [OWN]: { name: "same", owner: "me" }, [OTHER]: { name: "same", owner: "you" } };
    expect(await find(known, "same")).toBe(OWN); // not ambiguous: the other one is not there for it
    for (const word of ["theirs", OTHER, "ws-b"])
      expect(await refusal({ [OTHER]: { name: "theirs", owner: "you" } }, word)).toBe(
        `WORKSPACE_NOT_FOUND: There is no workspace "${word}"`,
      );
  });

  it("no workspace of another that has the id of theirs as its name, while it is there and when it is gone (G-33)", async () => {
    const thief = { [OTHER]: { name: OWN, owner: "you" } };
    expect(await find({ [OWN]: { name: null, owner: "me" }, ...thief }, OWN)).toBe(OWN);
    expect(await refusal({ [OWN]: { name: null, owner: "me", isGone: true }, ...thief }, OWN)).toContain("NOT_FOUND");
    expect(await refusal(thief, OWN)).toContain("NOT_FOUND");
  });

  it("out what became of one of theirs, and not of one of others", async () => {
    const known = { [GONE]: { name: "was", owner: "me", isGone: true } };
    const theirs = { [GONE]: { name: "was", owner: "you", isGone: true } };
    for (const word of [GONE, "was"]) {
      expect(await refusal(known, word)).toBe(`WORKSPACE_NOT_FOUND: There is no workspace "${word}": it was deleted`);
      expect(await refusal(theirs, word)).toBe(`WORKSPACE_NOT_FOUND: There is no workspace "${word}"`);
    }
  });

  it("several of one name with their ids", async () => {
    const known = { [OWN]: { name: "same", owner: "me" }, [OTHER]: { name: "same", owner: "me" } };
    expect(await refusal(known, "same")).toBe(
      `WORKSPACE_AMBIGUOUS: More than one workspace is named "same": ${OWN}, ${OTHER}`,
    );
    expect(await refusal(known, "ws-")).toContain(`id starts with "ws-": ${OWN}, ${OTHER}`);
  });
});
