import type { GateRepo } from "../../model/git-order.ts";

const MAX_LINE = 300;

/** What stands between the gate and an upstream, from what git and ssh said, for people. */
export function explainUpstream(said: string, { shown, way }: Pick<GateRepo, "shown" | "way">): string {
  const pinned = way.kind === "program" ? way.fingerprint : null;
  if (/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/.test(said)) {
    const seen = /SHA256:[A-Za-z0-9+/=]+/.exec(said)?.[0];
    return `the host key of ${shown} does not match: pinned is ${pinned ?? "none"}, and the host shows ${seen ?? "another"}`;
  }
  if (/Permission denied \(/.test(said)) return `${shown} does not take the key of the repository`;
  if (/Authentication failed|could not read Username|HTTP (Basic: )?.*401|error: 401/.test(said)) {
    const name = way.kind === "http" ? way.token_name : null;
    return name === null
      ? `${shown} asks for a credential, and the repository has no \`auth\``
      : `${shown} does not take the credential ${name}`;
  }
  if (/error: 403/.test(said)) return `${shown} refuses it (403)`;
  if (/not found|does not appear to be a git repository|No such file or directory/i.test(said))
    return `${shown} has no such repository, or does not show it`;
  if (/certificate|SSL|TLS/.test(said)) return `${shown} cannot prove who it is: ${lastLine(said)}`;
  if (
    /Could not resolve|Connection refused|timed out|Timeout|unreachable|No route|Failed to connect|Connection closed|ECONNREFUSED/i.test(
      said,
    )
  )
    return `${shown} cannot be reached: ${lastLine(said)}`;
  return `${shown}: ${lastLine(said)}`;
}

function lastLine(said: string): string {
  const lines = said
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const telling = lines.filter(
    (line) =>
      !/^(and the repository exists|Please make sure|fatal: Could not read from remote|fatal: protocol error|fatal: the remote end hung up|error: failed to push)/.test(
        line,
      ),
  );
  return (telling.at(-1) ?? lines.at(-1) ?? "it gives no reason").replace(/^(fatal|error): /, "").slice(0, MAX_LINE);
}

/** Lines that the upstream itself sent for people. */
export const upstreamMessages = (said: string): string[] =>
  said
    .split("\n")
    .flatMap((line) => /^remote: (.*)$/.exec(line)?.[1]?.trimEnd() ?? [])
    .filter((line) => line !== "");
