/** Whether a route's host covers a name; both as `canonicalHost` gives them. `*.example.com` covers all below `example.com`, at any depth, and not itself; `*` all names. */
export function coversHost(pattern: string, host: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.")
    ? host.length > pattern.length - 1 && host.endsWith(pattern.slice(1))
    : pattern === host;
}
