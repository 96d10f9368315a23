import { ByteBudget } from "../base/byte-budget.ts";
import { type ClocheError, isClocheError, messageOf } from "../base/errors.ts";
import type { StopOptions, Wall, WallLimits } from "../contracts/backend.ts";
import type { GuestClient } from "../guest/client.ts";
import { GuestFiles } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import type { ExecResult } from "../model/exec.ts";
import { AGENT, type ExecutionMode } from "../model/names.ts";
import type { OutputSink, RunningCommand } from "./running-command.ts";
import type { Secrets } from "./secrets.ts";

/** How long after a broken connection its sandbox may take to be gone, on a machine that is busy. Nobody waits for it. */
const END_PATIENCE_MS = 30_000;

/** What is kept of running commands' output: of one sandbox, and of all, so that one with much to say leaves the others their part. */
const PRINTED_BYTES = 16 * 1024 * 1024;
const ALL_PRINTED = new ByteBudget(64 * 1024 * 1024);

/** A command of an earlier daemon that waits for its client to come back, or one that waits for its first. */
export interface AdoptedCommand {
  readonly process: number;
  /** Of one that nobody has read from yet: starts to read its output, and hands it on from the first byte. Undefined once it is read. */
  first?(sink: OutputSink): Promise<ExecResult> | undefined;
  /** Starts to read its output, once; gives its result. */
  start(): Promise<ExecResult>;
}

export interface LiveOptions {
  readonly workspaceId: string;
  readonly wall: Wall;
  readonly executionMode: ExecutionMode;
  readonly limits: WallLimits;
  /** Whether its commands have a way out. */
  readonly hasEgress: boolean;
  /** What its commands have in the place of tokens, by the names of their variables. */
  readonly standIns?: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  /** Called once when the sandbox ends by itself. */
  readonly onLost: (reason: string) => void;
}

/** A workspace whose sandbox runs: its wall, the one connection that all verbs share, and the commands under way. */
export class LiveWorkspace {
  readonly workspaceId: string;
  readonly wall: Wall;
  readonly executionMode: ExecutionMode;
  readonly limits: WallLimits;
  readonly hasEgress: boolean;
  standIns: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  readonly commands = new Map<number, RunningCommand>();
  readonly adopted = new Map<number, AdoptedCommand>();
  /** What its commands have printed, as far as it is kept. */
  readonly printed = new ByteBudget(PRINTED_BYTES, ALL_PRINTED);
  readonly #onLost: (reason: string) => void;
  #client: Promise<GuestClient> | undefined;
  /** Why it takes no more verbs. */
  #ended: string | undefined;

  constructor(options: LiveOptions) {
    this.workspaceId = options.workspaceId;
    this.wall = options.wall;
    this.executionMode = options.executionMode;
    this.limits = options.limits;
    this.hasEgress = options.hasEgress;
    this.standIns = options.standIns ?? {};
    this.secrets = options.secrets;
    this.#onLost = options.onLost;
  }

  /** The connection; made anew when the last one broke while the sandbox lives on. */
  async guest(): Promise<GuestClient> {
    if (this.#ended !== undefined) throw this.lost();
    this.#client ??= this.#connect();
    return await this.#client;
  }

  async files(user: { uid: number; gid: number } = AGENT): Promise<GuestFiles> {
    return new GuestFiles(await this.guest(), user);
  }

  /** Whether this is still the sandbox of its workspace. After a reset or a deletion it is not, and nothing may be written into the journal for it. */
  get isCurrent(): boolean {
    return this.#ended === undefined;
  }

  /** The error for callers that still wait for this sandbox. */
  lost(): ClocheError {
    return failure(
      "SANDBOX_LOST",
      `The sandbox of workspace ${this.workspaceId} has ended: ${this.#ended ?? "it does not answer"}`,
    );
  }

  /** Ends the sandbox. Idempotent. */
  async close(reason: string, options?: StopOptions): Promise<void> {
    this.#ended ??= reason;
    const client = this.#client;
    this.#client = undefined;
    await this.wall.stop(options);
    await client?.then((one) => one.close()).catch(() => undefined); // a connection that failed needs no closing
  }

  /** Lets go of the connection; the sandbox goes on without us. */
  async release(): Promise<void> {
    this.#ended ??= "the daemon ends";
    await this.#client?.then((one) => one.close()).catch(() => undefined);
  }

  async #connect(): Promise<GuestClient> {
    try {
      const client = await this.wall.connect();
      void client.closed.then((error) => this.#disconnected(error ? messageOf(error) : "its guest program ended"));
      return client;
    } catch (error) {
      void this.#disconnected(messageOf(error));
      // A sandbox that has just ended leaves a socket on which nobody answers.
      throw isClocheError(error) ? error : this.lost();
    }
  }

  /** Asked again after a wait, when it may have changed. */
  #hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Never rejects. While the sandbox lives on, the next verb connects anew. */
  async #disconnected(reason: string): Promise<void> {
    this.#client = undefined;
    if (this.#ended !== undefined || !(await this.wall.hasEnded(END_PATIENCE_MS)) || this.#hasEnded()) return;
    this.#ended = reason;
    this.#onLost(reason);
  }
}
