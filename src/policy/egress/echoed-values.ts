import type { GateCredential } from "../../model/egress-order.ts";

/** What stands where a service wants one value only, as GitHub and others have it. */
const FILLED_IN: ReadonlySet<string> = new Set(["x-oauth-basic", "api_token"]);
/** A shorter word may be anywhere in an answer. */
const SHORTEST_PART = 8;

/**
 * What an answer may repeat of a credential: all of it, and of a pair of user and password the part that is the secret.
 *
 * SECURITY: a server that takes such a pair apart shows the password by itself (G-182)
 */
export function echoedValues({ scheme, token }: Pick<GateCredential, "scheme" | "token">): string[] {
  if (token === null) return [];
  const at = token.indexOf(":");
  if (scheme !== "Basic" || at < 0) return [token];
  const [user, password] = [token.slice(0, at), token.slice(at + 1)];
  const secret = password.length < SHORTEST_PART || FILLED_IN.has(password) ? user : password;
  return secret.length < SHORTEST_PART ? [token] : [token, secret];
}
