import type { Door } from "./door.ts";

/**
 * What the daemon and the gate of a workspace say to each other, as lines of JSON on the gate's socket: the daemon a `GateOrder`, the gate a
 * `GateReport`, once when the daemon comes and whenever something in it changes. A gate outlives daemons: one of another protocol is ended and started anew.
 */
export const GATE_PROTOCOL = 1;

/** All that a gate is to do. It takes the place of what it was told before. */
export interface GateOrder {
  /** Above that of the order in force. */
  readonly revision: number;
  /** Where it reaches the guest program of the sandbox; null while there is none. */
  readonly guest_socket: string | null;
  readonly doors: readonly Door[];
}

export interface DoorReport {
  readonly port: number;
  /** `opening` until the sandbox has answered; `closed` has a reason, and is tried again as long as the sandbox is there. */
  readonly state: "opening" | "open" | "closed";
  readonly reason: string | null;
}

export interface GateReport {
  readonly protocol: number;
  /** Of the order in force; 0 before the first. */
  readonly revision: number;
  readonly doors: readonly DoorReport[];
}
