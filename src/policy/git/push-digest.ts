import { createHash } from "node:crypto";
import type { PushCommand } from "./push-commands.ts";
import type { PushFailure } from "./push-failure.ts";

/** What a push does, and what is wrong with it. */
export interface PushFacts {
  readonly repo: string;
  readonly commands: readonly PushCommand[];
  /** What the client says along with it, which goes to the upstream too. */
  readonly options: readonly string[];
  readonly failures: readonly PushFailure[];
}

/**
 * What an approval of a push is bound to: the repository; the old id, the new id and the name of every ref; the options; and all that was wrong with it when the
 * operator was asked.
 *
 * SECURITY: the same commits with another option, or with something wrong that nobody was shown, are another push (G-127)
 */
export function pushDigest({ repo, commands, options, failures }: PushFacts): string {
  const facts = [
    repo,
    commands.map((command) => `${command.old} ${command.new} ${command.ref}`).sort(),
    options,
    failures.map(({ step, text, ref }) => JSON.stringify([step, text, ref])).sort(),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}
