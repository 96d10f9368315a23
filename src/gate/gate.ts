import type { Log } from "../base/log.ts";
import { GATE_PROTOCOL, type GateOrder } from "../model/gate-control.ts";
import { ControlServer } from "./control-server.ts";
import { GuestDoors } from "./guest-doors.ts";
import { KeptOrder } from "./kept-order.ts";

/** What the keeper has opened for the gate. */
export interface GateDescriptors {
  /** Files in memory, for the order in force. */
  readonly order: readonly number[];
  /** A socket that listens. */
  readonly control: number;
}

/** Runs the gate of one workspace: serves its doors as it was last told, by a daemon or before it was killed. */
export function runGate({ order: files, control }: GateDescriptors, log: Log): void {
  const kept = new KeptOrder(files);
  let revision = 0;
  const doors = new GuestDoors(log, () => server.tell());
  const obey = (order: GateOrder) => {
    revision = order.revision;
    doors.set(order.guest_socket, order.doors);
  };
  const server = new ControlServer(
    () => ({ protocol: GATE_PROTOCOL, revision, doors: doors.reports }),
    (order) => {
      kept.write(order);
      obey(order);
    },
  );
  const last = kept.read();
  if (last) obey(last);
  server.listen(control);
  log.info("the gate serves", { pid: process.pid, revision });
}
