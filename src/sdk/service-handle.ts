import { failure } from "../model/error-codes.ts";
import type { Service, ServiceList, ServiceLogs } from "../model/service.ts";
import type { CallOptions, ServiceLogsOptions } from "./options.ts";
import { SANDBOX_GONE, unlessGone } from "./unless-gone.ts";
import type { WorkspaceCalls } from "./workspace-calls.ts";

interface ServiceParts {
  readonly calls: WorkspaceCalls;
  readonly info: Service;
  /** Whether this handle started it. */
  readonly isOwn: boolean;
}

/** A service of a workspace. `await using` stops one that `ws.service()` has started, and leaves one that `ws.services.open()` found. */
export class ServiceHandle implements AsyncDisposable {
  readonly name: string;
  readonly #calls: WorkspaceCalls;
  readonly #isOwn: boolean;
  #info: Service;

  /** @internal */
  constructor({ calls, info, isOwn }: ServiceParts) {
    this.name = info.service_name;
    this.#calls = calls;
    this.#info = info;
    this.#isOwn = isOwn;
  }

  /** As it was last seen; `status` looks again. */
  get info(): Service {
    return this.#info;
  }

  async status(options: CallOptions = {}): Promise<Service> {
    return (this.#info = await this.#calls.ask("statusService", { service_name: this.name }, options));
  }

  async logs(options: ServiceLogsOptions = {}): Promise<ServiceLogs> {
    return await this.#calls.ask("logsService", { service_name: this.name }, options);
  }

  /** TERM, then KILL, to all that it started. */
  async stop(options: CallOptions = {}): Promise<Service> {
    return (this.#info = await this.#calls.ask("stopService", { service_name: this.name }, options));
  }

  /** Where this host reaches a port that was published with it; without a port, the first one. */
  url(guestPort?: number): string {
    const ports = this.#info.published_ports;
    const found = guestPort === undefined ? ports[0] : ports.find((one) => one.guest_port === guestPort);
    if (found) return `http://${found.host}:${found.host_port}`;
    const which = guestPort === undefined ? "no port" : `no port ${guestPort}`;
    throw failure("INVALID_ARGUMENT", `Service "${this.name}" publishes ${which}`, {
      hint: "Start it with published_ports, in a workspace of the network policy published-ports",
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwn) await unlessGone([...SANDBOX_GONE, "SERVICE_NOT_FOUND"], () => this.stop());
  }
}

/** `ws.services`: those that there are. `ws.service(name, command)` starts one. */
export class WorkspaceServices {
  readonly #calls: WorkspaceCalls;

  /** @internal */
  constructor(calls: WorkspaceCalls) {
    this.#calls = calls;
  }

  async list(options: CallOptions = {}): Promise<ServiceList> {
    return await this.#calls.ask("listServices", {}, options);
  }

  /** One that was started before. */
  async open(name: string, options: CallOptions = {}): Promise<ServiceHandle> {
    const info = await this.#calls.ask("statusService", { service_name: name }, options);
    return new ServiceHandle({ calls: this.#calls, info, isOwn: false });
  }
}
