import type { GuardedValue } from "../../model/egress-order.ts";
import type { GitOrder } from "../../model/git-order.ts";
import { guardedTokenName } from "../egress/gate-routes.ts";

/** The tokens by which the gate reaches repositories, each once. */
export function gitTokens({ repos }: Pick<GitOrder, "repos">): GuardedValue[] {
  const byName = new Map<string, string>();
  for (const { way } of repos)
    if (way.kind === "http" && way.authorization !== null && way.token_name !== null)
      byName.set(way.token_name, tokenIn(way.authorization));
  return [...byName].map(([name, value]) => ({ kind: "known_secrets", name: guardedTokenName(name), value }));
}

/** `Basic`, and then the user and the token in base64. */
function tokenIn(authorization: string): string {
  const pair = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString("utf8");
  return pair.slice(pair.indexOf(":") + 1);
}
