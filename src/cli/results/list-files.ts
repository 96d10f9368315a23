import type { FileList } from "../../model/files.ts";
import { WORKSPACE } from "../arguments/common-options.ts";
import type { OptionSpecs, PositionalSpec } from "../arguments/option-spec.ts";
import type { Context } from "../command.ts";
import { formatFiles } from "./file-table.ts";

/** Of every command that lists files. */
export const LIST_FILES_POSITIONALS: readonly PositionalSpec[] = [
  WORKSPACE,
  { name: "PATH", description: "A folder under /workspace (default: all of it)", optional: true },
];
export const LIST_FILES_OPTIONS = {
  recursive: { type: "boolean", description: "Folders in folders too" },
} as const satisfies OptionSpecs;

/** Asks for the list that the words name and prints it. */
export async function listFiles(
  context: Context<typeof LIST_FILES_OPTIONS>,
  ask: (id: string, options: { path: string | undefined; recursive: boolean | undefined }) => Promise<FileList>,
): Promise<void> {
  const list = await ask(context.argument("ID"), {
    path: context.optionalArgument("PATH"),
    recursive: context.values.recursive,
  });
  if (list.entries.length === 0 && !context.json) context.note("No files");
  await context.print(list, () => (list.entries.length === 0 ? "" : formatFiles(list.entries, context.layout)));
}
