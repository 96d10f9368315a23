import type { NetworkPolicy } from "../model/names.ts";

/** Whether services of the sandbox can be reached from this host. Whether there is a way out is told by its doors: a policy may have one or not. */
export const publishesPorts = (policy: NetworkPolicy): boolean =>
  policy === "published-ports" || policy === "egress+published-ports";
