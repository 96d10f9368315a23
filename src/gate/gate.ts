import type { Log } from "../base/log.ts";
import { GATE_PROTOCOL, type GateOrder } from "../model/gate-control.ts";
import type { EgressOrder } from "../model/egress-order.ts";
import { GIT_PORT, type GitOrder } from "../model/git-order.ts";
import { gitTokens } from "../policy/git/git-tokens.ts";
import { gitRoutes } from "../policy/git/web-place.ts";
import { keepTokens } from "../policy/egress/keep-tokens.ts";
import { ControlServer } from "./control-server.ts";
import { EgressGate } from "./egress/egress-gate.ts";
import { GuestDoors } from "./guest-doors.ts";
import { GitGate } from "./git/git-gate.ts";
import type { HostPlaces } from "./host-connections.ts";
import { KeptOrder } from "./kept-order.ts";
import { nameDoors } from "./name-doors.ts";
import { AskedPushes } from "./supervise/asked-pushes.ts";
import { AskedRequests } from "./supervise/held-requests.ts";
import { DoneSignals } from "./supervise/done-signals.ts";
import { LastRefusals } from "./supervise/last-refusals.ts";
import { SuperviseDoor } from "./supervise/supervise-door.ts";
import { RunBudget } from "./supervise/run-budget.ts";
import { SuperviseGate } from "./supervise/supervise-gate.ts";

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
  // SECURITY: one that comes back lets out what the last one was told to, under the same authority, and nothing before (G-206)
  const last = kept.read();
  let inForce: GateOrder = { revision: 0, guest_socket: null, doors: [], egress: null, git: null };
  const keep = () => kept.write({ ...inForce, authority: egress.keys, supervise: supervise.kept });
  const supervise = new SuperviseGate({ onNew: () => server.tellAsks(), onChange: keep });
  const egress = new EgressGate(log, last?.authority ?? undefined, {
    onEvent: () => server.tellEvents(),
    onWant: () => server.tell(),
  });
  egress.held = new AskedRequests(supervise);
  egress.once = supervise.grants;
  const pushes = new AskedPushes(supervise, {
    redact: (text) => git.redact(text),
    onHeld({ repo, commands }, proposal_id) {
      const refs = commands.map(({ ref }) => git.redact(ref).slice(0, 200)).slice(0, 100);
      egress.events.push({ kind: "push.held", repo, refs, proposal_id });
    },
  });
  const git: GitGate = new GitGate(
    log,
    places.reachProgram,
    {
      tell: (event) => egress.events.push(event),
      // SECURITY: each signature is told as a use of a credential is, and counted where there are many (G-146)
      onSigned: () => egress.events.used(["git.signing"], "127.0.0.1", GIT_PORT),
    },
    pushes,
  );
  const budget = new RunBudget({ supervise, onNear: (state) => egress.events.near(state) });
  egress.budget = budget;
  egress.events.onUsage = (usage, isCounted) => budget.count(usage, isCounted);
  egress.gitDoors = (host) => git.doorsFor(host);
  egress.serveGit = (at, target, request, response) => git.serveAtHost(at, target, request, response);
  const done = new DoneSignals((event) => egress.events.push(event));
  const refusals = new LastRefusals();
  egress.events.onRefused = (refused) => refusals.add(refused);
  const desk = { asks: supervise.asks, routes: () => inForce.egress?.routes ?? [], refusals, done };
  const door = new SuperviseDoor(log, { desk });
  const doors = new GuestDoors(log, places, { egress, git, supervise: door }, () => server.tell());
  const whole = (order: GateOrder): GateOrder => ({
    ...order,
    egress: order.egress ? keepTokens(order.egress, inForce.egress) : inForce.egress,
    git: order.git ?? inForce.git,
  });
  const obey = (order: GateOrder, isNew: { readonly egress: boolean; readonly git: boolean }) => {
    inForce = order;
    if (isNew.git && order.git) git.obey(order.git);
    const found = order.egress && withGit(order.egress, order.git);
    if (found && (isNew.egress || isNew.git)) {
      egress.obey(found);
      budget.order = found.budget ?? null;
      git.guard(found.guarded);
    }
    doors.set(order.guest_socket, [...order.doors, ...nameDoors(order.doors, found)]);
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
      kept.write({ ...next, authority: egress.keys, supervise: supervise.kept });
      obey(next, { egress: order.egress !== null, git: order.git !== null });
    },
    asks: () => ({ asks: supervise.asks.unanswered }),
    hearAnswers: (answers) => supervise.hear(answers),
  });
  if (last) supervise.restore(last.supervise);
  if (last) obey(last, { egress: true, git: true });
  server.listen(control);
  log.info("the gate serves", { pid: process.pid, revision: inForce.revision });
  // While nobody waits: a gate is started before it is known what it is to do.
  if (!last) setImmediate(() => egress.makeReady());
}

/**
 * Hosts of repositories come behind the routes of the bottle, which say more about them where there are any.
 *
 * SECURITY: the tokens of repositories are secrets of the bottle's, like those of its routes, should an upstream show one (G-157)
 */
const withGit = (egress: EgressOrder, git: GitOrder | null): EgressOrder =>
  git
    ? { ...egress, routes: [...egress.routes, ...gitRoutes(git)], guarded: [...egress.guarded, ...gitTokens(git)] }
    : egress;
