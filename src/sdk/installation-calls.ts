import { daemonSocket } from "../base/paths.ts";
import type { Environment, EnvironmentDetail, EnvironmentList, EnvironmentsPruned } from "../model/environment.ts";
import type { DaemonStatus, Health, McpToken } from "../model/health.ts";
import type { Prepared } from "../model/prepared.ts";
import { ask } from "./ask.ts";
import type { DaemonConnection } from "./connection.ts";
import { watchEvents } from "./event-watch.ts";
import { onThisHost, resolveEnvironment } from "./on-this-host.ts";
import type {
  CallOptions,
  EventWatch,
  LongCallOptions,
  McpTokenOptions,
  PrepareOptions,
  PruneOptions,
  PullOptions,
  WatchOptions,
} from "./options.ts";

/** What a client speaks with, and for whom: the home of one installation, the way to its daemon, and the variables of the caller. */
export interface ClientParts {
  readonly home: string;
  readonly connection: DaemonConnection;
  readonly env: ProcessEnvironment;
}

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** The calls about an installation as a whole: its events, environments, health and daemon. */
export class InstallationCalls implements AsyncDisposable {
  readonly home: string;
  readonly #connection: DaemonConnection;
  readonly #env: ProcessEnvironment;

  constructor({ home, connection, env }: ClientParts) {
    this.home = home;
    this.#connection = connection;
    this.#env = env;
  }

  /** What happens in this home, as it happens; with `since`, what has happened before it. */
  watch(options: WatchOptions = {}): EventWatch {
    const { signal, onConnection, ...input } = options;
    return watchEvents(this.#connection, input, { signal, onConnection });
  }

  async listEnvironments(options: CallOptions = {}): Promise<EnvironmentList> {
    return await this.#connection.call("listEnvironments", {}, options);
  }

  async pullEnvironment(environment: string, options: PullOptions = {}): Promise<Environment> {
    return await ask(this.#connection, "pullEnvironment", { environment: resolveEnvironment(environment) }, options);
  }

  async inspectEnvironment(environment: string, options: CallOptions = {}): Promise<EnvironmentDetail> {
    return await ask(this.#connection, "inspectEnvironment", { environment: resolveEnvironment(environment) }, options);
  }

  /** Removes what no workspace uses; of the named environments alone where some are named. */
  async pruneEnvironments(options: PruneOptions = {}): Promise<EnvironmentsPruned> {
    const { environments, ...rest } = options;
    return await ask(
      this.#connection,
      "pruneEnvironments",
      { environments: environments?.map((name) => resolveEnvironment(name)) },
      rest,
    );
  }

  /** Makes ready what workspaces of an environment need on a backend, and proves it: create, exec, reset, delete. */
  async prepare(options: PrepareOptions = {}): Promise<Prepared> {
    const { signal, onProgress, ...input } = options;
    const { backend, environment, oci_runtime } = onThisHost(input, this.#env);
    return await this.#connection.call("prepare", { backend, environment, oci_runtime }, { signal, onProgress });
  }

  async doctor(options: LongCallOptions = {}): Promise<Health> {
    const { backend, oci_runtime } = onThisHost({}, this.#env);
    return await this.#connection.call("doctor", { backend, oci_runtime, search_path: this.#env["PATH"] }, options);
  }

  /** Never starts a daemon. */
  async daemonStatus(options: CallOptions = {}): Promise<DaemonStatus> {
    const status = await this.#connection.callRunning("daemonStatus", {}, options);
    return status ?? { running: false, socket: daemonSocket(this.home), ...NOT_RUNNING };
  }

  /** The address of MCP over HTTP with a token that outlives daemons, made when there is none; `rotate` makes another, `revoke` ends it and who uses it. */
  async mcpToken(options: McpTokenOptions = {}): Promise<McpToken> {
    const { signal, ...input } = options;
    return await this.#connection.call("mcpToken", input, { signal });
  }

  /** Ends the daemon; sandboxes go on. When it returns, another one can start. */
  async stopDaemon(options: CallOptions = {}): Promise<{ stopped: boolean }> {
    return (await this.#connection.callRunning("stopDaemon", {}, options)) ?? { stopped: false };
  }

  /** Closes the connections to the daemon. Commands that this client still streams are ended. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const NOT_RUNNING = {
  pid: null,
  version: null,
  mcp_url: null,
  mcp_token: null,
  started_at: null,
  workspace_count: null,
} as const;
