import { type PushCommand, isCreation, isDeletion } from "../../policy/git/push-commands.ts";
import { upstreamMessages } from "../../policy/git/upstream-problem.ts";
import type { GitCall } from "./host-git.ts";
import type { Upstream } from "./upstream.ts";

export interface Forwarded {
  /** Why the upstream did not take it, by ref; empty when it has all of it. */
  readonly refused: ReadonlyMap<string, string>;
  /** What the upstream says to people. */
  readonly messages: readonly string[];
}

const LINE = /^([ +\-*!=])\t([^\t]*)\t(.*)$/;

/**
 * Sends a push on, with the host's credential. The upstream takes all of it or nothing, and only where its refs are what the sandbox was told: another push that
 * came between is not overwritten.
 */
export async function forwardPush(
  upstream: Upstream,
  commands: readonly PushCommand[],
  options: readonly string[],
  call: GitCall,
): Promise<Forwarded> {
  const words = (url: string) => [
    "push",
    "--porcelain",
    "--no-verify",
    "--no-signed",
    "--no-follow-tags",
    ...(commands.length > 1 ? ["--atomic"] : []),
    ...options.map((option) => `--push-option=${option}`),
    // SECURITY: each ref is changed from what was looked at, or not at all (G-90)
    ...commands.map((one) => `--force-with-lease=${one.ref}:${isCreation(one) ? "" : one.old}`),
    "--end-of-options",
    url,
    ...commands.map((one) => (isDeletion(one) ? `:${one.ref}` : `${one.new}:${one.ref}`)),
  ];
  const { code, stdout, said, problem } = await upstream.run("push", words, call);
  const messages = upstreamMessages(said);
  if (code === 0) return { refused: new Map(), messages };
  const refused = new Map<string, string>();
  for (const line of stdout.toString().split("\n")) {
    const [, flag, refspec = "", summary = ""] = LINE.exec(line) ?? [];
    if (flag === "!") refused.set(refspec.slice(refspec.indexOf(":") + 1), reasonOf(summary));
  }
  if (refused.size === 0) for (const { ref } of commands) refused.set(ref, problem ?? "the upstream gives no reason");
  return { refused, messages };
}

/** As git users know it. */
function reasonOf(summary: string): string {
  const reason = /\(([^)]*)\)\s*$/.exec(summary)?.[1] ?? summary;
  return /stale info|fetch first|non-fast-forward/.test(reason) ? "fetch first" : reason;
}
