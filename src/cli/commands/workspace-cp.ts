import { defineCommand } from "../command.ts";
import { LINKS, OVERWRITE } from "../arguments/common-options.ts";
import { type CopyPlan, hostPlace, planCopy } from "../arguments/copy-ends.ts";
import { INCLUDE_OPTIONS, includeInput } from "../arguments/include-options.ts";
import type { Context } from "../command.ts";
import { escapeName } from "../output/escape.ts";
import { printExported } from "../results/exported.ts";
import { noteLeftOut } from "../results/left-out-notes.ts";

const OPTIONS = { overwrite: OVERWRITE, links: LINKS, ...INCLUDE_OPTIONS } as const;

export const command = defineCommand({
  words: ["workspace", "cp"],
  summary: "Copy files between the host and a workspace",
  description:
    "One side is ID:PATH. As with `docker cp`, a copy goes into a folder that is there, else it gets the name that was given; SRC/. is what is in a folder. In the workspace, files are replaced. On the host nothing is, unless --overwrite says so, and nothing is merged into a folder. A folder of a git project comes without what git ignores.",
  positionals: [
    { name: "SRC", description: "What to copy: a path of the host, or ID:PATH", completes: "host-path" },
    { name: "DEST", description: "Where it goes: ID:PATH, or a path of the host", completes: "host-path" },
  ],
  options: OPTIONS,
  examples: [
    "cloche workspace cp settings.json ws-4:config/",
    "cloche workspace cp ws-4:/workspace/report.html .",
    "cloche workspace cp ./fixtures/. ws-4:tests/fixtures",
    "cloche workspace cp --overwrite ws-4:dist/app.js ./app.js",
  ],
  async run(context) {
    const plan = planCopy(context.argument("SRC"), context.argument("DEST"), this.words);
    return await (plan.way === "in" ? copyIn(context, plan) : copyOut(context, plan));
  },
});

async function copyIn(context: Context<typeof OPTIONS>, plan: CopyPlan & { way: "in" }): Promise<number> {
  const client = await context.connect();
  const pushed = await client.pushWorkspaceSync(plan.id, plan.source, {
    dest: plan.dest,
    placement: plan.contents ? "contents" : "copy",
    ...includeInput(context.values),
    onProgress: context.onProgress,
  });
  const count = pushed.files === 1 ? "1 file" : `${pushed.files} files`;
  await context.print(pushed, () => `Wrote ${count} to ${escapeName(pushed.dest)}`);
  if (pushed.left_out) noteLeftOut(context, pushed.left_out, false);
  return 0;
}

async function copyOut(context: Context<typeof OPTIONS>, plan: CopyPlan & { way: "out" }): Promise<number> {
  const place = await hostPlace(context.io.cwd, plan.path, plan.dest);
  const client = await context.connect();
  const { links, overwrite } = context.values;
  // What is in a folder may take the place of a folder that has nothing in it.
  const exported = await client.exportWorkspace(plan.id, plan.path, {
    output_path: place.path,
    links,
    overwrite: overwrite || place.isFilled || undefined,
  });
  await printExported(context, exported);
  return 0;
}
