import type { NetworkPolicy } from "../model/names.ts";

/** What each network policy means. `egress+published-ports` gives ports, and a way out only with hosts. */
const MEANINGS: Readonly<Record<NetworkPolicy, { egress: boolean; ports: boolean }>> = {
  off: { egress: false, ports: false },
  "published-ports": { egress: false, ports: true },
  egress: { egress: true, ports: false },
  "egress+published-ports": { egress: false, ports: true },
};

/** Whether anything outside of the sandbox can be reached from it. */
export const hasEgress = (policy: NetworkPolicy): boolean => MEANINGS[policy].egress;

/** Whether services of the sandbox can be reached from this host. */
export const publishesPorts = (policy: NetworkPolicy): boolean => MEANINGS[policy].ports;
