import { Slots } from "../../base/slots.ts";
import { type PushFailure, failed } from "../../policy/git/push-failure.ts";
import { type PushCommand, isCreation, isDeletion } from "../../policy/git/push-commands.ts";
import type { RefFacts } from "../../policy/git/ref-rules.ts";
import { shownName } from "../../policy/git/shown-name.ts";
import type { Examined } from "./examined-push.ts";
import type { PushedObjects } from "./pushed-objects.ts";

/** The parents of each commit of a push. */
export type Parents = ReadonlyMap<string, readonly string[]>;

/** Which refs would lose something. Most pushes lead to what was there by their own commits; only for others git is asked. */
export async function refFacts({ git, quarantine, commands }: Examined, parents: Parents): Promise<RefFacts[]> {
  const slots = new Slots(2);
  return await Promise.all(
    commands.map(async (command) => {
      if (isCreation(command) || isDeletion(command)) return { command, isForced: false };
      // SECURITY: who trusts a tag does not get something else by its name (G-169)
      if (command.ref.startsWith("refs/tags/")) return { command, isForced: true };
      if (leadsTo(command, parents)) return { command, isForced: false };
      const words = ["merge-base", "--is-ancestor", command.old, command.new];
      const { code } = await slots.during(() => git.run(words, quarantine.both));
      return { command, isForced: code !== 0 };
    }),
  );
}

function leadsTo({ old, new: next }: PushCommand, parents: Parents): boolean {
  const seen = new Set([next]);
  for (const id of seen) {
    if (id === old) return true;
    for (const parent of parents.get(id) ?? []) seen.add(parent);
  }
  return false;
}

/** A branch is a commit; a tag is one or leads to one. */
export async function wrongKinds(
  { git, quarantine, commands }: Examined,
  objects: PushedObjects | undefined,
): Promise<PushFailure[]> {
  const made = commands.filter((command) => !isDeletion(command) && !objects?.commits.has(command.new));
  if (made.length === 0) return [];
  const input = made.map(({ ref, new: id }) => `${id}${ref.startsWith("refs/tags/") ? "^{commit}" : ""}\n`).join("");
  const { stdout } = await git.run(["cat-file", "--batch-check=%(objecttype)"], { ...quarantine.both, input });
  const kinds = stdout.toString().split("\n");
  return made.flatMap(({ ref }, at) =>
    kinds[at] === "commit" ? [] : [failed("refs", `${shownName(ref)} does not lead to a commit`, ref)],
  );
}
