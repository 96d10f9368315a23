import type { CompiledRoute, RequestFacts, RouteRules } from "./route-table.ts";

/** A request that no rule can be asked about. */
export interface NoReading {
  readonly problem: string;
}

export interface AskedPlace {
  readonly host: string;
  readonly port: number;
}

/** Why a request is refused, given its path as it may be told. */
export type Refused = (path: string) => string;

/**
 * Whether the routes let a request pass: undefined when they do. The gate asks it for each request, and `cloche egress check` for one that nobody has sent.
 * `found` is the first route that covers host and port.
 */
export function decideRequest(
  names: (host: string) => boolean,
  found: Pick<CompiledRoute<RouteRules>, "refusal"> | undefined,
  { host, port }: AskedPlace,
  request: RequestFacts | NoReading,
): Refused | undefined {
  if ("problem" in request) return () => `The gate does not take this request: ${request.problem}`;
  if (!found) return () => (names(host) ? `Port ${port} of ${host} is not listed` : `The host ${host} is not listed`);
  const refusal = found.refusal(request);
  return refusal === undefined
    ? undefined
    : (path) => `${request.method} ${path} is not allowed at ${host}: ${refusal}`;
}
