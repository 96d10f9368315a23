import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { MAX_PROPOSED_BYTES } from "../model/proposal-kinds.ts";
import { draftText, readDraft } from "./draft.ts";
import type { Effect, Input } from "./state.ts";

/**
 * Has the operator change what is proposed, in a file that nobody else can read. An editor that fails, or a file that says nothing, changes nothing: what is wrong
 * with it is told.
 */
export async function editDraft(
  { detail, proposed }: Extract<Effect, { type: "edit" }>,
  openEditor: (path: string) => Promise<void>,
): Promise<Input> {
  const folder = await mkdtemp(join(tmpdir(), "cloche-proposal-"));
  const path = join(folder, `${detail.kind}.yaml`);
  try {
    await writeFile(path, draftText(detail, proposed), { mode: 0o600 });
    await openEditor(path);
    const text = await readFile(path, "utf8");
    if (text.length > MAX_PROPOSED_BYTES) return nothingChanged("it is too large");
    const read = readDraft(text);
    if ("problem" in read) return nothingChanged(read.problem);
    return { type: "drafted", proposalId: detail.proposal_id, proposed: read.proposed };
  } catch (error) {
    return nothingChanged(messageOf(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const nothingChanged = (why: string): Input => ({
  type: "notice",
  notice: { tone: "warning", text: `Nothing was changed, and nothing was approved: ${why}` },
});
