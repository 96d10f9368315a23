import type { EnvironmentsPruned, RemovedItem } from "../../model/environment.ts";
import { formatBytes } from "../output/bytes.ts";
import { defineCommand } from "../command.ts";
import { ENVIRONMENT } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";

export const command = defineCommand({
  words: ["env", "prune"],
  summary: "Remove built environments that no workspace uses",
  description:
    "Also what backends have made of them: images, frozen machines, and what an older version has left. All of it is made again when it is needed. Where environments are named, nothing goes but these and what was made of them.",
  positionals: [
    { ...ENVIRONMENT, description: "Its name, as in `cloche env list` (default: all of them)", multiple: true },
  ],
  options: { "dry-run": { type: "boolean", description: "Remove nothing, and tell what would go" } },
  examples: [
    "cloche env prune",
    "cloche env prune --dry-run",
    "cloche env prune debian:12-build dockerfile:./image",
    "cloche env prune --json | jq .freed_bytes",
  ],
  async run(context) {
    const { words, onProgress } = context;
    const pruned = await (
      await context.connect()
    ).pruneEnvironments({
      environments: words.length === 0 ? undefined : [...words],
      dry_run: context.values["dry-run"],
      onProgress,
    });
    await context.print(pruned, () => formatPruned(pruned, words.length > 0));
    return 0;
  },
});

function formatPruned(
  { dry_run: dryRun, removed, kept, backends, freed_bytes: bytes }: EnvironmentsPruned,
  named: boolean,
) {
  const [remove, free] = dryRun ? ["Would remove", "Would free"] : ["Removed", "Freed"];
  const tell = ({ name, size_bytes }: RemovedItem): string =>
    `${remove} ${escapeName(name)}, ${formatBytes(size_bytes)}`;
  const gone = [...removed, ...backends.flatMap((one) => one.removed)].map(tell);
  // Of those that nobody asked for it goes without saying.
  const stays = named ? kept.map(({ name, reason }) => `Kept ${escapeName(name)}: ${escapeName(reason)}`) : [];
  const problems = backends.flatMap(({ name, problem }) =>
    problem === null ? [] : [`Backend ${escapeName(name)} could not clean up: ${escapeName(problem)}`],
  );
  if (gone.length + stays.length + problems.length === 0) return "Nothing to remove";
  return [...gone, ...stays, ...problems, `${free} ${formatBytes(bytes)}`].join("\n");
}
