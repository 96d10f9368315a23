import { isClocheError } from "../base/errors.ts";
import type { Service } from "../model/service.ts";
import type { CallOptions } from "./options.ts";
import type { WorkspaceCalls } from "./workspace-calls.ts";

/** Does nothing until it is stopped. */
const HOLD = ["tail", "-f", "/dev/null"];

/** `ws.ports`: ports of the sandbox that this host reaches. */
export class WorkspacePorts {
  readonly #calls: WorkspaceCalls;
  /** Ports that are being published, so that two calls for one port publish it once. */
  readonly #underWay = new Map<number, Promise<string>>();

  /** @internal */
  constructor(calls: WorkspaceCalls) {
    this.#calls = calls;
  }

  /**
   * Where this host reaches a port of the workspace, whatever listens there. A port that no service publishes is published now, by a service named
   * after it, such as `port-8080`: it does nothing else, and stopping it closes the port. Needs the network policy `published-ports`.
   */
  async url(guestPort: number, options: CallOptions = {}): Promise<string> {
    const found = await this.#find(guestPort, options);
    if (found !== undefined) return found;
    const publishing = this.#underWay.get(guestPort) ?? this.#publish(guestPort, options);
    this.#underWay.set(guestPort, publishing);
    try {
      return await publishing;
    } finally {
      this.#underWay.delete(guestPort);
    }
  }

  async #find(guestPort: number, options: CallOptions): Promise<string | undefined> {
    const { services } = await this.#calls.ask("listServices", {}, options);
    const urls = services.filter(({ state }) => state === "running").map((service) => urlOf(service, guestPort));
    return urls.find((url) => url !== undefined);
  }

  async #publish(guestPort: number, options: CallOptions): Promise<string> {
    const given = { service_name: `port-${guestPort}`, command: HOLD, published_ports: [{ guest_port: guestPort }] };
    try {
      const url = urlOf(await this.#calls.ask("startService", given, options), guestPort);
      if (url !== undefined) return url;
    } catch (error) {
      // Another client has published the same port since the first look.
      const found = isClocheError(error) && error.code === "SERVICE_EXISTS" && (await this.#find(guestPort, options));
      if (found) return found;
      throw error;
    }
    throw new Error(`Service "${given.service_name}" publishes no port`);
  }
}

function urlOf({ published_ports: ports }: Service, guestPort: number): string | undefined {
  const found = ports.find((one) => one.guest_port === guestPort);
  return found && `http://${found.host}:${found.host_port}`;
}
