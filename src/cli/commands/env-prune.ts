import type { RemovedItem } from "../../model/environment.ts";
import { formatBytes } from "../bytes.ts";
import { defineCommand } from "../command.ts";
import { escapeName } from "../escape.ts";

export const command = defineCommand({
  words: ["env", "prune"],
  summary: "Remove built environments that no workspace uses",
  description:
    "Also what backends have made of them: images, frozen machines, and what an older version has left. All of it is made again when it is needed.",
  positionals: [],
  options: {},
  examples: ["cloche env prune", "cloche env prune --json | jq .freed_bytes"],
  async run(context) {
    const pruned = await (await context.connect()).pruneEnvironments();
    const tell = ({ name, size_bytes }: RemovedItem): string =>
      `Removed ${escapeName(name)}, ${formatBytes(size_bytes)}`;
    const lines = [...pruned.removed, ...pruned.backends.flatMap((one) => one.removed)].map(tell);
    const problems = pruned.backends.flatMap(({ name, problem }) =>
      problem === null ? [] : [`Backend ${escapeName(name)} could not clean up: ${escapeName(problem)}`],
    );
    await context.print(pruned, () => [...lines, ...problems, `Freed ${formatBytes(pruned.freed_bytes)}`].join("\n"));
    return 0;
  },
});
