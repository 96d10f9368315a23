import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { type Endpoint, findEndpoint, parseAddress } from "./endpoint.ts";
import { EngineClient } from "./engine-client.ts";
import { isRefusal } from "./engine-failure.ts";

/** What we read of `GET /info`. */
export interface EngineInfo {
  readonly ServerVersion: string;
  readonly OperatingSystem: string;
  readonly OSType: string;
  /** The host name of the machine that the engine runs on. */
  readonly Name: string;
  readonly KernelVersion: string;
  readonly CgroupVersion?: string;
  readonly MemoryLimit: boolean;
  readonly PidsLimit: boolean;
  readonly CpuCfsQuota: boolean;
  readonly Runtimes: Readonly<Record<string, { readonly runtimeArgs?: readonly string[] | null }>>;
  readonly SecurityOptions: readonly string[] | null;
}

export interface ContainerState {
  readonly Id: string;
  readonly State: {
    readonly Running: boolean;
    readonly Pid: number;
    readonly ExitCode: number;
    readonly Error: string;
  };
}

export interface ImageDetail {
  readonly Id: string;
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null } | null;
}

export type Labels = Readonly<Record<string, string>>;

/** Those that have the label, with that value when one is given. */
type LabelFilter = Readonly<Record<string, string | undefined>>;

const filterBy = (labels: LabelFilter): string =>
  JSON.stringify({
    label: Object.entries(labels).map(([name, value]) => (value === undefined ? name : `${name}=${value}`)),
  });

const PING_TIMEOUT_MS = 10_000;

/** The calls of the Docker Engine API that cloche makes. What fails throws `EngineRefusal` or BACKEND_UNAVAILABLE. */
export class DockerEngine {
  readonly #client: EngineClient;

  constructor(endpoint: Endpoint) {
    this.#client = new EngineClient(endpoint);
  }

  /** The engine that the environment and Docker's configuration name now. */
  static current(env: NodeJS.ProcessEnv = process.env): DockerEngine {
    return new DockerEngine(findEndpoint(env));
  }

  /** The engine at an address that was recorded. */
  static at(address: string, env: NodeJS.ProcessEnv = process.env): DockerEngine {
    return new DockerEngine(parseAddress(address, env));
  }

  get endpoint(): Endpoint {
    return this.#client.endpoint;
  }

  /** Throws when it does not answer. */
  async ping(): Promise<void> {
    await this.#client.bytes("GET", "/_ping", { timeoutMs: PING_TIMEOUT_MS });
  }

  info(signal?: AbortSignal): Promise<EngineInfo> {
    return this.#client.call("GET", "/info", { signal });
  }

  findImage(reference: string, signal?: AbortSignal): Promise<ImageDetail | undefined> {
    return unlessMissing(this.#client.call<ImageDetail>("GET", `/images/${encodeURI(reference)}/json`, { signal }));
  }

  /** Makes an image of one layer from a tar of its root file system. */
  async importImage(
    tar: Readable,
    image: { repository: string; tag: string; labels: Labels },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const changes = Object.entries(image.labels).map(([name, value]) => `LABEL ${name}=${JSON.stringify(value)}`);
    await this.#client.lines("POST", "/images/create", {
      query: { fromSrc: "-", repo: image.repository, tag: image.tag, changes: changes.join("\n") },
      body: tar,
      signal,
    });
  }

  async listImages(labels: LabelFilter): Promise<{ Id: string; RepoTags: string[] | null; Size: number }[]> {
    return await this.#client.call("GET", "/images/json", { query: { filters: filterBy(labels) } });
  }

  async removeImage(reference: string): Promise<void> {
    await unlessMissing(this.#client.call("DELETE", `/images/${encodeURI(reference)}`));
  }

  /** Gives its id. Not to be cancelled: an engine whose client goes away finishes all the same, and nobody would know what is there. */
  async createContainer(name: string, body: object): Promise<string> {
    const { Id } = await this.#client.call<{ Id: string }>("POST", "/containers/create", { query: { name }, body });
    return Id;
  }

  /** No error when it runs already. Not to be cancelled either. */
  async startContainer(id: string): Promise<void> {
    await this.#client.call("POST", `/containers/${id}/start`);
  }

  /** No error when it is gone or does not run. */
  async killContainer(id: string): Promise<void> {
    try {
      await this.#client.call("POST", `/containers/${id}/kill`);
    } catch (error) {
      if (!isRefusal(error, 404) && !isRefusal(error, 409)) throw error;
    }
  }

  /** Whether it is gone or does not run, at once or within that time. */
  async containerEnds(id: string, withinMs: number, signal?: AbortSignal): Promise<boolean> {
    const deadline = AbortSignal.timeout(Math.max(1, withinMs));
    const over = signal ? AbortSignal.any([deadline, signal]) : deadline;
    try {
      const query = { condition: "not-running" };
      await unlessMissing(this.#client.call("POST", `/containers/${id}/wait`, { query, signal: over, timeoutMs: 0 }));
      return true;
    } catch (error) {
      if (deadline.aborted) return false;
      throw error;
    }
  }

  /** With its anonymous volumes; ends it when it runs. No error when it is gone. */
  async removeContainer(id: string): Promise<void> {
    try {
      await unlessMissing(this.#client.call("DELETE", `/containers/${id}`, { query: { force: true, v: true } }));
    } catch (error) {
      if (!isRefusal(error, 409)) throw error;
      // Somebody else removes it at this moment.
      await unlessMissing(this.#client.call("POST", `/containers/${id}/wait`, { query: { condition: "removed" } }));
    }
  }

  findContainer(id: string, signal?: AbortSignal): Promise<ContainerState | undefined> {
    return unlessMissing(this.#client.call<ContainerState>("GET", `/containers/${id}/json`, { signal }));
  }

  /**
   * Those of a label whose name begins with that.
   *
   * SECURITY: a container has the labels of its image too, so a label alone does not tell who made it; its name does (G-21).
   */
  async listContainers(
    labels: LabelFilter,
    prefix: string,
  ): Promise<{ Id: string; Names: string[]; Labels: Labels }[]> {
    const query = { all: true, filters: filterBy(labels) };
    const found = await this.#client.call<{ Id: string; Names: string[]; Labels: Labels }[]>(
      "GET",
      "/containers/json",
      { query },
    );
    return found.filter(({ Names }) => Names.some((name) => name.startsWith(`/${prefix}`)));
  }

  /** Ids of the images that containers use, also those of other programs. */
  async imagesOfContainers(): Promise<Set<string>> {
    const all = await this.#client.call<{ ImageID: string }[]>("GET", "/containers/json", { query: { all: true } });
    return new Set(all.map(({ ImageID }) => ImageID));
  }

  /** The last lines that its first process printed. */
  async containerLog(id: string, lines: number): Promise<string> {
    const query = { stdout: true, stderr: true, tail: lines };
    return demultiplex(await this.#client.bytes("GET", `/containers/${id}/logs`, { query }));
  }

  /** A tar of its whole root file system. */
  exportContainer(id: string, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    return this.#client.stream("GET", `/containers/${id}/export`, { signal, timeoutMs: 0 });
  }

  async removeVolume(name: string): Promise<void> {
    await unlessMissing(this.#client.call("DELETE", `/volumes/${name}`, { query: { force: true } }));
  }

  async listVolumes(prefix: string): Promise<{ Name: string; Labels: Labels | null }[]> {
    const query = { filters: JSON.stringify({ name: [prefix] }) };
    const { Volumes } = await this.#client.call<{ Volumes: { Name: string; Labels: Labels | null }[] | null }>(
      "GET",
      "/volumes",
      { query },
    );
    return (Volumes ?? []).filter(({ Name }) => Name.startsWith(prefix));
  }
}

async function unlessMissing<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isRefusal(error, 404)) return undefined;
    throw error;
  }
}

const HEADER_BYTES = 8;

/** Without a terminal, output comes in frames: a channel, three zeroes, a length, and that many bytes. */
function demultiplex(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + HEADER_BYTES, end));
    at = end;
  }
  return Buffer.concat(parts).toString("utf8");
}
