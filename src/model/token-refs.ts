/**
 * The variables that a policy takes credentials from, each once. It is asked before the policy was checked, by a client that checks none: what has another shape than
 * it should have names nothing.
 */
export function tokenRefs(egress: unknown): string[] {
  const names = listOf(fieldOf(egress, "routes"))
    .flatMap((route) => {
      const auth = fieldOf(route, "auth");
      return Array.isArray(auth) ? (auth as unknown[]) : [auth];
    })
    .map((auth) => fieldOf(auth, "token_ref"))
    .filter((name) => typeof name === "string");
  return [...new Set(names)];
}

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
