import { createHash } from "node:crypto";
import type { PushCommand } from "./push-commands.ts";

/** What an approval of a push is bound to: the repository, and the old id, the new id and the name of every ref. */
export function pushDigest(repo: string, commands: readonly PushCommand[]): string {
  const lines = commands.map((command) => `${command.old} ${command.new} ${command.ref}`).sort();
  return createHash("sha256")
    .update([repo, ...lines].join("\n"))
    .digest("hex");
}
