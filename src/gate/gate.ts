import type { Log } from "../base/log.ts";
import { GATE_PROTOCOL, type GateOrder } from "../model/gate-control.ts";
import { keepTokens } from "../policy/egress/keep-tokens.ts";
import { ControlServer } from "./control-server.ts";
import { EgressGate } from "./egress/egress-gate.ts";
import { GuestDoors } from "./guest-doors.ts";
import { GitGate } from "./git/git-gate.ts";
import type { HostPlaces } from "./host-connections.ts";
import { KeptOrder } from "./kept-order.ts";
import { nameDoors } from "./name-doors.ts";

/** What the keeper has opened for the gate. */
export interface GateDescriptors {
  /** Files in memory, for the order in force. */
  readonly order: readonly number[];
  /** A socket that listens. */
  readonly control: number;
}

/** Runs the gate of one workspace: serves its doors as it was last told, by a daemon or before it was killed. */
export function runGate({ order: files, control }: GateDescriptors, places: HostPlaces, log: Log): void {
  const kept = new KeptOrder(files);
  const last = kept.read();
  let inForce: GateOrder = { revision: 0, guest_socket: null, doors: [], egress: null, git: null };
  const egress = new EgressGate(log, last?.authority ?? undefined, {
    onEvent: () => server.tellEvents(),
    onWant: () => server.tell(),
  });
  const git = new GitGate(log, places.reachProgram, (event) => egress.events.push(event));
  egress.gitDoor = (host) => git.doorFor(host);
  const doors = new GuestDoors(log, places.reach, { egress, git }, () => server.tell());
  const whole = (order: GateOrder): GateOrder => ({
    ...order,
    egress: order.egress ? keepTokens(order.egress, inForce.egress) : inForce.egress,
    git: order.git ?? inForce.git,
  });
  const obey = (order: GateOrder, isNew: { readonly egress: boolean; readonly git: boolean }) => {
    inForce = order;
    if (isNew.egress && order.egress) {
      egress.obey(order.egress);
      git.guard(order.egress.guarded);
    }
    if (isNew.git && order.git) git.obey(order.git);
    doors.set(order.guest_socket, [...order.doors, ...nameDoors(order.doors, order.egress)]);
  };
  const server = new ControlServer({
    report: () => ({
      protocol: GATE_PROTOCOL,
      revision: inForce.revision,
      guest_socket: inForce.guest_socket,
      doors: doors.reports,
      name_doors: doors.nameReports,
      egress: inForce.egress && { certificate: egress.keys.certificate, wants: egress.wants },
    }),
    events: egress.events,
    obey(order) {
      const next = whole(order);
      kept.write({ ...next, authority: egress.keys });
      obey(next, { egress: order.egress !== null, git: order.git !== null });
    },
  });
  if (last) obey(last, { egress: true, git: true });
  server.listen(control);
  log.info("the gate serves", { pid: process.pid, revision: inForce.revision });
}
