import { setTimeout as sleep } from "node:timers/promises";
import { isClocheError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AskListener, GateListener, ServedDoors, ServedGit } from "../contracts/gates.ts";
import type { EgressOrder } from "../model/egress-order.ts";
import { failure } from "../model/error-codes.ts";
import { type DoorReport, GATE_PROTOCOL, type GateAnswer, type GateReport } from "../model/gate-control.ts";
import { GateConnection } from "./gate-connection.ts";
import { controlSocket, endKeeper, gateFolder, seenGitFolder, startKeeper } from "./gate-keeper.ts";
import { gateLogTail } from "./gate-log-files.ts";
import { writeLinks, writePrograms } from "./gate-links.ts";
import type { SpareGates } from "./spare-gates.ts";

/** For a gate to start, connect to the sandbox and open its doors. */
const SERVE_MS = 15_000;
/** For a gate that has little to tell; one that does not answer is ended all the same. */
const FINISH_MS = 1000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

export interface GateOptions {
  readonly home: string;
  /** The gate, as a file to run. */
  readonly program: string;
  readonly log: Log;
}

/** Who is told what a gate says by itself. */
export interface GateListeners {
  readonly told: () => GateListener | undefined;
  readonly asked: () => AskListener | undefined;
}

/** The gate of one workspace as this daemon sees it. While it is wanted, one that dies with its keeper is started again. */
export class KeptGate {
  readonly #options: GateOptions;
  readonly #spares: SpareGates;
  readonly #workspaceId: string;
  readonly #folder: string;
  readonly #listeners: GateListeners;
  /** What came first is done first. */
  #turn: Promise<unknown> = Promise.resolve();
  #connection: GateConnection | undefined;
  #wanted: ServedDoors | undefined;
  #git: ServedGit | undefined;

  constructor(options: GateOptions, spares: SpareGates, workspaceId: string, listeners: GateListeners) {
    this.#options = options;
    this.#spares = spares;
    this.#listeners = listeners;
    this.#workspaceId = workspaceId;
    this.#folder = gateFolder(options.home, workspaceId);
  }

  get reports(): readonly DoorReport[] {
    return this.#connection?.report?.doors ?? [];
  }

  get certificate(): string | null {
    return this.#connection?.report?.egress?.certificate ?? null;
  }

  async serve(wanted: ServedDoors): Promise<readonly DoorReport[]> {
    this.#wanted = wanted;
    return await this.#inTurn(() => this.#serve(wanted));
  }

  giveGit(git: ServedGit): void {
    this.#git = git;
  }

  /** One that is not reached asks again when it is. */
  answer(answers: readonly GateAnswer[]): void {
    if (this.#connection?.isOpen === true && answers.length > 0) this.#connection.answer(answers);
  }

  /** The same doors, and something else that they let out. */
  async renew(egress: EgressOrder): Promise<{ revision: number } | undefined> {
    return await this.#inTurn(async () => {
      if (!this.#wanted) return undefined;
      this.#wanted = { ...this.#wanted, egress };
      await this.#serve(this.#wanted);
      return { revision: this.#connection?.report?.revision ?? 0 };
    });
  }

  async end(): Promise<void> {
    this.#wanted = undefined;
    await this.#inTurn(async () => {
      await this.#hearAll();
      this.letGo();
      await endKeeper(this.#folder);
    });
  }

  /** SECURITY: what the gate has counted and not told yet is in the log before it ends (G-113) */
  async #hearAll(): Promise<void> {
    const connection = this.#connection;
    if (connection?.report?.protocol === GATE_PROTOCOL) await connection.finish(AbortSignal.timeout(FINISH_MS));
  }

  /** The gate goes on. */
  letGo(): void {
    this.#wanted = undefined;
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #serve({ guestSocket, doors, egress }: ServedDoors): Promise<readonly DoorReport[]> {
    const over = AbortSignal.timeout(SERVE_MS);
    let reason = "it did not answer in time";
    for (let pause = FIRST_PAUSE_MS; !over.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const { connection, revision } = await this.#reach(over);
        writeLinks(this.#folder, { guestSocket, doors });
        const git = this.#git && doors.some(isGitDoor) ? this.#git : undefined;
        if (git) writePrograms(this.#folder, git);
        connection.order({
          revision: revision + 1,
          guest_socket: guestSocket,
          doors,
          egress,
          git: git ? { ...git.order, folder: seenGitFolder(this.#folder) } : null,
        });
        const isDone = (report: GateReport) =>
          report.revision > revision && [...report.doors, ...report.name_doors].every(isSettled);
        const report = await connection.when(isDone, over);
        if (report) {
          if (guestSocket !== null) this.#warn(report.name_doors);
          return report.doors;
        }
      } catch (error) {
        reason = messageOf(error);
      }
      // It was killed meanwhile, or one that a killed daemon has begun to start is on its way.
      await sleep(pause, undefined, { signal: over }).catch(() => undefined);
    }
    throw failure("GATE_FAILED", `The gate of workspace ${this.#workspaceId} does not serve: ${reason}`, {
      details: { log: gateLogTail(this.#folder) },
    });
  }

  /** The workspace works without: what knows a proxy gets out by that. */
  #warn(doors: readonly DoorReport[]): void {
    for (const { port, state, reason } of doors)
      if (state !== "open")
        this.#options.log.warn("names lead nowhere in a sandbox", { workspaceId: this.#workspaceId, port, reason });
  }

  /** A gate of this version that answers, and the revision that it has. */
  async #reach(over: AbortSignal): Promise<{ connection: GateConnection; revision: number }> {
    const connection = this.#connection?.isOpen === true ? this.#connection : await this.#connect();
    const first = await connection.when(() => true, over);
    if (!first) throw failure("GATE_FAILED", "it ended");
    if (first.protocol === GATE_PROTOCOL) return { connection, revision: first.revision };
    connection.close();
    await endKeeper(this.#folder);
    throw failure("GATE_FAILED", "it was of another version");
  }

  async #connect(): Promise<GateConnection> {
    const socket = controlSocket(this.#folder);
    const connection = await GateConnection.open(socket).catch(async () => {
      if (!(await this.#spares.give(this.#folder))) await this.#startKeeper();
      return await GateConnection.open(socket);
    });
    this.#connection = connection;
    connection.onEvents = ({ events, lost, through }) => {
      this.#listeners.told()?.egress(this.#workspaceId, events, lost);
      connection.heard(through);
    };
    connection.onAsks = (asks) => this.#listeners.asked()?.asks(this.#workspaceId, asks);
    const onReport = ({ egress }: GateReport) => {
      if (egress && egress.wants.length > 0) this.#listeners.told()?.wants(this.#workspaceId, egress.wants);
    };
    connection.onReport = onReport;
    if (connection.report) onReport(connection.report);
    void connection.closed.then(() => this.#lost(connection));
    return connection;
  }

  async #startKeeper(): Promise<void> {
    const hasGit = this.#wanted?.doors.some(isGitDoor) === true;
    await startKeeper(this.#folder, this.#options.program, { hasGit });
  }

  /** A gate that was killed is started again by its keeper, which keeps what it was told; a keeper that was killed by us. Never rejects. */
  async #lost(connection: GateConnection): Promise<void> {
    if (this.#connection !== connection || !this.#wanted) return;
    this.#connection = undefined;
    this.#options.log.warn("a gate ended", { workspaceId: this.#workspaceId });
    await this.#inTurn(async () => {
      if (!this.#wanted || this.#connection?.isOpen === true) return;
      await this.#serve(this.#wanted);
      if (this.certificate !== null) this.#listeners.told()?.certificate(this.#workspaceId, this.certificate);
    }).catch((error: unknown) => {
      const hint = isClocheError(error) ? error.hint : undefined;
      this.#options.log.error("a gate cannot be started again", { reason: messageOf(error), hint });
    });
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const own = this.#turn.then(work);
    this.#turn = own.catch(() => undefined); // its own caller is told
    return await own;
  }
}

const isGitDoor = ({ to }: ServedDoors["doors"][number]): boolean => to.kind === "git";
const isSettled = ({ state }: DoorReport): boolean => state !== "opening";
