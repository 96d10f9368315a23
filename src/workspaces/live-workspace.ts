import { messageOf } from "../base/errors.ts";
import type { Wall, WallLimits } from "../contracts/backend.ts";
import type { GuestClient } from "../guest/client.ts";
import { GuestFiles } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import { AGENT } from "../model/names.ts";
import type { ExecResult } from "../model/exec.ts";
import type { RunningCommand } from "./running-command.ts";

/** How long after a broken connection its sandbox may take to be gone. */
const END_PATIENCE_MS = 2000;

/** A command of an earlier daemon that waits for its client to come back. */
export interface AdoptedCommand {
  readonly process: number;
  /** Starts to read its output, once; gives its result. */
  start(): Promise<ExecResult>;
}

/** A workspace whose sandbox runs: its wall, the one connection that all verbs share, and the commands under way. */
export class LiveWorkspace {
  readonly workspaceId: string;
  readonly wall: Wall;
  readonly limits: WallLimits;
  readonly commands = new Map<number, RunningCommand>();
  readonly adopted = new Map<number, AdoptedCommand>();
  readonly #onLost: (reason: string) => void;
  #client: Promise<GuestClient> | undefined;
  #closed = false;

  constructor(workspaceId: string, wall: Wall, limits: WallLimits, onLost: (reason: string) => void) {
    this.workspaceId = workspaceId;
    this.wall = wall;
    this.limits = limits;
    this.#onLost = onLost;
  }

  /** The connection; made anew when the last one broke while the sandbox lives on. */
  async guest(): Promise<GuestClient> {
    if (this.#closed) throw failure("SANDBOX_LOST", `The sandbox of workspace ${this.workspaceId} has ended`);
    this.#client ??= this.#connect();
    return await this.#client;
  }

  async files(): Promise<GuestFiles> {
    return new GuestFiles(await this.guest(), AGENT);
  }

  /** Ends the sandbox. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = undefined;
    await this.wall.stop();
    await client?.then((one) => one.close()).catch(() => undefined); // a connection that failed needs no closing
  }

  /** Lets go of the connection; the sandbox goes on without us. */
  async release(): Promise<void> {
    this.#closed = true;
    await this.#client?.then((one) => one.close()).catch(() => undefined);
  }

  async #connect(): Promise<GuestClient> {
    try {
      const client = await this.wall.connect();
      void client.closed.then((error) => this.#disconnected(error ? messageOf(error) : "its guest program ended"));
      return client;
    } catch (error) {
      void this.#disconnected(messageOf(error));
      throw error;
    }
  }

  /** Never rejects. While the sandbox lives on, the next verb connects anew. */
  async #disconnected(reason: string): Promise<void> {
    this.#client = undefined;
    if (this.#closed || !(await this.wall.hasEnded(END_PATIENCE_MS)) || this.#isClosed()) return;
    this.#closed = true;
    this.#onLost(reason);
  }

  /** Asked again after a wait, when it may have changed. */
  #isClosed(): boolean {
    return this.#closed;
  }
}
