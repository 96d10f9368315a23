import type { Door } from "../model/door.ts";
import { EGRESS_ENVIRONMENT } from "../model/egress-environment.ts";
import { EGRESS_PORT } from "../model/egress-port.ts";

export const EGRESS_DOOR: Door = { port: EGRESS_PORT, to: { kind: "egress" } };

export const isEgressDoor = ({ to }: Door): boolean => to.kind === "egress";

/** What commands get in a sandbox with such a door, beside what all get. */
export const egressVariables = (doors: readonly Door[]): Readonly<Record<string, string>> =>
  doors.some(isEgressDoor) ? EGRESS_ENVIRONMENT : {};
