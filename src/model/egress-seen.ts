import type { DenialCode } from "./egress-denial.ts";
import type { Egress, Route } from "./egress.ts";

/** Whether a request would pass, and by which rule. */
export interface EgressCheck {
  allowed: boolean;
  /** What the agent would be told; null where it passes. */
  code: DenialCode | null;
  reason: string | null;
  /** Host of the route that decides; null when none does. */
  rule: string | null;
  /** Its place in the list, from 0. */
  route_index: number | null;
  method: string;
  host: string | null;
  port: number | null;
  path: string | null;
  /** Names of the credentials that the gate would put in. */
  injects: string[];
  /** A tunnel: the gate sees neither method nor path. */
  is_tunnel: boolean;
}

export interface SeenHost {
  host: string;
  requests: number;
  /** Those of them that no route let pass. */
  denied: number;
  methods: string[];
}

/** What a workspace has sent, and the smallest policy that covers it. */
export interface EgressLearned {
  workspace_id: string;
  request_count: number;
  denied_count: number;
  hosts: SeenHost[];
  /** Covers all that passed. */
  egress: Egress;
  /** What would cover the rest: for the operator to judge. */
  denied: Route[];
}

/** A policy that is in force. */
export interface EgressSet {
  workspace_id: string;
  /** Of the gate's order that has it; null while the workspace does not run. */
  revision: number | null;
  route_count: number;
}
