import type { Door } from "../model/door.ts";
import { GIT_PORT } from "../model/git-order.ts";
import { EGRESS_PORT } from "../model/egress-port.ts";
import { SUPERVISE_PORT } from "../model/supervise-door.ts";

export const EGRESS_DOOR: Door = { port: EGRESS_PORT, to: { kind: "egress" } };

/** To the repositories of a run's bottle. */
export const GIT_DOOR: Door = { port: GIT_PORT, to: { kind: "git" } };

/** To the tools with which a run's agent asks the operator. */
export const superviseDoor = (canChangeEnvironment: boolean): Door => ({
  port: SUPERVISE_PORT,
  to: { kind: "supervise", can_change_environment: canChangeEnvironment },
});

export const isEgressDoor = ({ to }: Door): boolean => to.kind === "egress";
