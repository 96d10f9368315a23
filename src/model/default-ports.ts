/** Of a route that names none. Not beside the schema of routes, which a gate does not need. */
export const DEFAULT_PORTS: readonly number[] = [443, 80];
