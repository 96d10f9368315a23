import { type PushFailure, failed } from "../../policy/git/push-failure.ts";
import type { Examined } from "./examined-push.ts";
import type { PushedObjects } from "./pushed-objects.ts";
import { PackRefused } from "./quarantine.ts";

/** What the refs of the push need and the upstream has not. Throws when something of it is missing. */
export async function reachableObjects(
  { git, quarantine, signal }: Examined,
  tips: readonly string[],
): Promise<ReadonlySet<string>> {
  const running = git.start(["rev-list", "--objects", "--stdin", "--not", "--all"], {
    ...quarantine.both,
    signal,
    input: tips.map((tip) => `${tip}\n`).join(""),
  });
  const ids = new Set<string>();
  let rest = "";
  for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) ids.add(line.slice(0, 40));
  }
  const { code, said } = await running.ended;
  if (code !== 0) throw new PackRefused(`it is not whole: ${said.trim().split("\n").at(-1)?.slice(0, 200) ?? ""}`);
  return ids;
}

/** SECURITY: what nobody would see in any branch is not carried to the upstream either (G-89) */
export async function hiddenObjects(
  { git, quarantine }: Examined,
  { ids }: PushedObjects,
  reachable: ReadonlySet<string>,
): Promise<PushFailure[]> {
  const others = [...ids].filter((id) => !reachable.has(id));
  if (others.length === 0) return [];
  // Objects of the mirror's come along where a pack was made against them.
  const { repository } = quarantine.both;
  const input = others.map((id) => `${id}\n`).join("");
  const { stdout } = await git.run(["cat-file", "--batch-check"], { repository, input });
  const hidden = stdout
    .toString()
    .split("\n")
    .flatMap((line) => /^([0-9a-f]{40}) missing$/.exec(line)?.[1] ?? []);
  if (hidden.length === 0) return [];
  const some = hidden.slice(0, 3).map((id) => id.slice(0, 12));
  return [failed("hidden", `the pack has ${hidden.length} objects that no pushed ref leads to: ${some.join(", ")}`)];
}
