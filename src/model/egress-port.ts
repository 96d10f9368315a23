/** Where a sandbox finds its gate's proxy. */
export const EGRESS_PORT = 9099;
