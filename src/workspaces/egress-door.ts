import type { Door } from "../model/door.ts";
import { EGRESS_PORT } from "../model/egress-port.ts";

export const EGRESS_DOOR: Door = { port: EGRESS_PORT, to: { kind: "egress" } };

export const isEgressDoor = ({ to }: Door): boolean => to.kind === "egress";
