import type { PatchApplied } from "../../model/files.ts";
import { defineCommand } from "../command.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import { escapeName } from "../output/escape.ts";
import { readTextSource } from "../arguments/text-source.ts";
import { usageError } from "../arguments/usage-error.ts";

export const command = defineCommand({
  words: ["workspace", "patch", "apply"],
  summary: "Apply a unified diff",
  description: "All of it or nothing: when one hunk does not fit, no file is changed.",
  positionals: [WORKSPACE],
  options: {
    patch: { type: "string", value: "TEXT", description: "The patch" },
    "patch-file": {
      type: "string",
      value: "PATH",
      description: "A file of the host with the patch; - is standard input",
      completes: "host-path",
    },
  },
  examples: [
    "cloche workspace patch apply ws-4 --patch-file fix.patch",
    "git diff | cloche workspace patch apply ws-4 --patch-file -",
  ],
  async run(context) {
    const { patch, "patch-file": patchFile } = context.values;
    if ((patch === undefined) === (patchFile === undefined))
      throw usageError(this.words, "Give one of --patch and --patch-file");
    const text = patch ?? (await readTextSource(context.io, patchFile ?? "-", this.words, "--patch-file"));
    const applied = await (await context.connect()).applyWorkspacePatch(context.argument("ID"), { patch: text });
    await context.print(applied, () => formatApplied(applied));
    return 0;
  },
});

function formatApplied({ changed, files }: PatchApplied): string {
  if (!changed) return "No changes";
  return files
    .map(({ path, status, old_path }) => {
      const from = old_path === undefined ? "" : ` (was ${escapeName(old_path)})`;
      return `${status} ${escapeName(path)}${from}`;
    })
    .join("\n");
}
