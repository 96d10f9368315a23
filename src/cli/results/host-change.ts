import type { HostChange } from "../../model/host.ts";
import type { Context } from "../command.ts";
import { escapeName } from "../output/escape.ts";

/** What was done on stdout; where it was done, and where the old file is, on stderr. */
export async function printHostChange(
  context: Pick<Context, "print" | "note" | "json">,
  done: HostChange,
  human: () => string,
): Promise<void> {
  await context.print(done, human);
  if (context.json || !done.changed) return;
  context.note(`Wrote ${escapeName(done.config_path)}`);
  if (done.backup_path !== null) context.note(`The file as it was is in ${escapeName(done.backup_path)}`);
}
