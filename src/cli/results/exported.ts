import type { Exported } from "../../model/files.ts";
import type { Context } from "../command.ts";
import { escapeName } from "../output/escape.ts";

/** What came out of a workspace, and what was left out of it. */
export async function printExported(
  context: Pick<Context, "print" | "note" | "json">,
  exported: Exported,
): Promise<void> {
  const { artifact_type, workspace_path, output_path, skipped_links: skipped } = exported;
  await context.print(
    exported,
    () => `Wrote the ${artifact_type} ${escapeName(workspace_path)} to ${escapeName(output_path)}`,
  );
  if (skipped > 0 && !context.json)
    context.note(`note: left out ${skipped} ${skipped === 1 ? "link that leads" : "links that lead"} out`);
}
