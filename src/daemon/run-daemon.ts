import { errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import {
  configFile,
  daemonLog,
  daemonSocket,
  environmentsFolder,
  layersFolder,
  seedsFolder,
  storeFile,
  workspacesFolder,
  type Places,
} from "../base/paths.ts";
import { makePrivateFolder } from "../base/private-folder.ts";
import { spreadFolders } from "../base/spread-folders.ts";
import { packageVersion } from "../base/version.ts";
import { removeAbandonedWork } from "../base/work-folder.ts";
import type { Store } from "../contracts/store.ts";
import type { Config } from "../model/config.ts";
import { failure } from "../model/error-codes.ts";
import { openStore } from "../store/open-store.ts";
import { Admission } from "./admission.ts";
import { Connections } from "./connections.ts";
import type { Compose, Composition } from "./composition.ts";
import { configReader } from "./config.ts";
import type { DaemonHandlers } from "./handlers.ts";
import { IdleTimer } from "./idle-timer.ts";
import { InFlight } from "./in-flight.ts";
import { openLogFile } from "./log-file.ts";
import { McpAddress } from "./mcp-address.ts";
import { createApiServer, type ApiServer } from "./server.ts";
import { listenPrivately } from "./socket.ts";
import { describeError } from "./to-failure.ts";

/** How long calls may go on after the daemon was told to end, and once more after they were aborted. */
const STOP_GRACE_MS = 3000;
const LAST_ANSWER_MS = 1000;

/** Ways in beside the socket. */
export interface Endpoints {
  /** The program that serves MCP over HTTP, to be run when its first client comes; without it there is no such endpoint. */
  readonly mcpProgram?: string;
}

export interface DaemonOptions extends Endpoints {
  readonly places: Places;
  readonly idleSeconds: number;
  readonly logLevel: string | undefined;
}

/** A daemon that listens. */
export interface Daemon {
  readonly log: Log;
  /** Resolves when it has let go of everything. */
  readonly ended: Promise<void>;
  /** Idempotent. */
  stop(reason: string): Promise<void>;
}

/** Starts the daemon of a home; "held" when another one is there. Throws when it cannot start, with nothing left open. */
export async function startDaemonHere(options: DaemonOptions, compose: Compose): Promise<Daemon | "held"> {
  const { home, cache } = options.places;
  openPrivately(home, "CLOCHE_HOME");
  openPrivately(cache, "CLOCHE_CACHE");
  const store = openStore(storeFile(home));
  if (store === "locked") return "held";
  let composition: Composition | undefined;
  try {
    const log = openLogFile(daemonLog(home), options.logLevel);
    for (const place of [home, cache]) await removeAbandonedWork(place);
    const life = new DaemonLife(options, store, log);
    const config = configReader(configFile(home));
    composition = await compose({
      places: options.places,
      store,
      log,
      config,
      workChanged: () => life.changed(),
    });
    await composition.recover();
    await life.serve(composition, config);
    void spreadMost(options.places, log);
    return life;
  } catch (error) {
    await composition?.close();
    store.close();
    throw error;
  }
}

/** Where most of what it makes goes. Not waited for: without it everything is the same, and slower. */
async function spreadMost({ home, cache }: Places, log: Log): Promise<void> {
  const folders = [workspacesFolder(home), layersFolder(home), seedsFolder(cache), environmentsFolder(cache)];
  const problem = await spreadFolders(folders).catch(messageOf);
  if (problem !== undefined) log.debug("could not spread folders", { problem });
}

// SECURITY: nobody else may look into the home or the cache, or put another in its place (G-14, G-24)
function openPrivately(folder: string, variable: string): void {
  try {
    makePrivateFolder(folder);
  } catch (error) {
    if (isClocheError(error)) throw error;
    if (errnoOf(error) === "ENOSPC") throw failure("DISK_FULL", `Cannot make "${folder}": the disk is full`);
    throw failure("DAEMON_UNREACHABLE", `Cannot use "${folder}": ${messageOf(error)}`, {
      hint: `Set ${variable} to a folder of your own`,
      cause: error,
    });
  }
}

class DaemonLife implements Daemon {
  readonly log: Log;
  readonly ended: Promise<void>;
  readonly #options: DaemonOptions;
  readonly #store: Store;
  readonly #startedAt = Date.now() / 1000;
  readonly #inFlight = new InFlight(() => this.changed());
  readonly #idle: IdleTimer;
  /** Operations that wait for the end themselves. */
  readonly #asking = new Set<AbortSignal>();
  #composition: Composition | undefined;
  #api: ApiServer | undefined;
  #mcp: McpAddress | undefined;
  #stopping: Promise<void> | undefined;
  #end!: () => void;

  constructor(options: DaemonOptions, store: Store, log: Log) {
    this.#options = options;
    this.#store = store;
    this.log = log;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const isBusy = () =>
      this.#inFlight.count > 0 || this.#mcp?.isNeeded === true || this.#composition?.hasWorkToHold() !== false;
    this.#idle = new IdleTimer(options.idleSeconds * 1000, isBusy, () => void this.stop("idle"));
  }

  changed(): void {
    this.#idle.changed();
  }

  async serve(composition: Composition, config: () => Config): Promise<void> {
    const { home } = this.#options.places;
    const version = packageVersion();
    const handlers = { ...composition.handlers, ...this.#lifeHandlers(version) };
    const bounds = { connections: new Connections(), admission: new Admission() };
    this.#api = createApiServer({ handlers, version, inFlight: this.#inFlight, log: this.log, ...bounds });
    await listenPrivately(this.#api.server, daemonSocket(home));
    this.#composition = composition;
    const { mcpProgram: program, places } = this.#options;
    if (program !== undefined) {
      const options = { program, places, log: this.log, config, onChange: () => this.changed() };
      this.#mcp = new McpAddress(options);
      await this.#mcp.open();
    }
    this.log.info("daemon listens", { pid: process.pid, version, home });
    this.changed();
  }

  async stop(reason: string): Promise<void> {
    this.#stopping ??= this.#letGo(reason);
    await this.#stopping;
  }

  async #letGo(reason: string): Promise<void> {
    this.log.info("daemon stops", { reason, in_flight: this.#inFlight.count });
    this.#idle.stop();
    this.#api?.server.close();
    // First: what it still asks would start the next daemon.
    await this.#mcp?.close();
    await this.#inFlight.settle(this.#asking, STOP_GRACE_MS);
    try {
      await this.#composition?.close();
    } catch (error) {
      this.log.error("could not close everything", { error: describeError(error) });
    }
    this.#store.close();
    // The client that asked for the end gets its answer now, when the next daemon can start.
    void this.#inFlight.empty(LAST_ANSWER_MS).then(() => {
      this.#api?.closeAllConnections();
      this.log.info("daemon ended");
      this.#end();
    });
  }

  #lifeHandlers(version: string): DaemonHandlers {
    return {
      daemonStatus: () =>
        Promise.resolve({
          running: true,
          pid: process.pid,
          socket: daemonSocket(this.#options.places.home),
          version,
          mcp_url: this.#mcp?.url ?? null,
          mcp_token: this.#mcp?.token ?? null,
          started_at: this.#startedAt,
          workspace_count: this.#store.listWorkspaces().length,
        }),
      mcpToken: ({ action = "show" }) => {
        if (this.#mcp) return this.#mcp.lastingToken(action);
        throw failure("NOT_SUPPORTED", "This daemon serves no MCP over HTTP", { hint: "Start it with `cloche`" });
      },
      stopDaemon: async (_input, { signal }) => {
        this.#asking.add(signal);
        await this.stop("asked to");
        return { stopped: true };
      },
    };
  }
}
