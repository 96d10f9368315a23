import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { hostname, release, tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { removeTree } from "../../src/base/remove-tree.ts";
import { EngineRefusal } from "../../src/docker-engine/engine-failure.ts";
import { StubContainer } from "./stub-container.ts";
import type { ContainerBody } from "./stub-container-config.ts";
import { type Labels, StubImages, newId } from "./stub-images.ts";

interface Call {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** What stands for `*` in its path. */
  readonly name: string;
}

/** Gives what is sent as JSON, or as it is when it is bytes; nothing where there is nothing to say. */
type Answers = (call: Call) => unknown;

const INFO = {
  ServerVersion: "stub",
  OperatingSystem: "stub",
  OSType: "linux",
  Name: hostname(),
  KernelVersion: release(),
  MemoryLimit: false,
  PidsLimit: false,
  CpuCfsQuota: false,
  Runtimes: {},
  SecurityOptions: [],
};

/**
 * Stands in for a Docker engine, without a daemon: it answers the calls that cloche makes, and a container is a process of an OCI runtime. It sets no limits, and
 * an export has what the image has. Needs root and runc.
 */
export class StubDockerEngine implements AsyncDisposable {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-se-")));
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #images = new StubImages(this.#folder);
  #containers: readonly StubContainer[] = [];
  readonly #volumes = new Map<string, Labels>();
  readonly #calls: Readonly<Record<string, Answers>> = {
    "GET /_ping": () => Buffer.from("OK"),
    "GET /info": () => INFO,
    "GET /images/json": ({ query }) => this.#images.all.filter(({ labels }) => matches(labels, query)),
    "GET /images/*/json": ({ name }) => ({
      Id: this.#images.get(name).Id,
      Config: { Labels: this.#images.get(name).labels },
    }),
    "POST /images/create": ({ request, query }) =>
      this.#images.import(`${query.get("repo")}:${query.get("tag")}`, request, query.get("changes") ?? ""),
    "DELETE /images/*": ({ name }) => this.#removeImage(name),
    "POST /containers/create": (call) => this.#create(call),
    "GET /containers/json": ({ query }) => this.#list(query),
    "GET /containers/*/json": ({ name }) => ({ Id: this.#find(name).id, State: this.#find(name).state }),
    "GET /containers/*/logs": ({ name }) => this.#find(name).log,
    "GET /containers/*/export": ({ name }) => packed(this.#find(name).image.folder),
    "POST /containers/*/start": ({ name }) => this.#find(name).start(),
    "POST /containers/*/kill": ({ name }) => this.#find(name).kill(),
    "POST /containers/*/wait": async ({ name }) => ({ StatusCode: await this.#find(name).ended() }),
    "DELETE /containers/*": ({ name }) => this.#remove(this.#find(name)),
    "GET /volumes": () => ({ Volumes: [...this.#volumes].map(([Name, Labels]) => ({ Name, Labels })) }),
    "DELETE /volumes/*": ({ name }) => this.#removeVolume(name),
  };

  static async start(): Promise<StubDockerEngine> {
    const engine = new StubDockerEngine();
    await new Promise<void>((done) => engine.#server.listen(engine.#socket, done));
    return engine;
  }

  get #socket(): string {
    return join(this.#folder, "docker.sock");
  }

  /** For the installation that is to use it; nothing of the user's own Docker configuration shows through. */
  get env(): NodeJS.ProcessEnv {
    const DOCKER_CONFIG = join(this.#folder, "no-config");
    return { DOCKER_HOST: `unix://${this.#socket}`, DOCKER_CONFIG, DOCKER_CONTEXT: "" };
  }

  /** An image of what is in a folder. */
  async addImage(reference: string, folder: string): Promise<void> {
    await this.#images.import(reference, packed(folder));
  }

  /** Names of containers and volumes that are there, running or not. */
  leftovers(): string[] {
    return [...this.#containers.map(({ name }) => name), ...this.#volumes.keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const container of this.#containers) await container.remove();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
    await removeTree(this.#folder);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "", "http://docker");
    const path = decodeURI(pathname).replace(/^\/v1\.\d+/, "");
    response.setHeader("api-version", "1.41");
    try {
      const [work, name] = this.#callOf(`${request.method} ${path}`);
      const answer = await work({ request, query, name });
      if (answer instanceof Readable) answer.pipe(response);
      else response.end(answer instanceof Buffer ? answer : JSON.stringify(answer));
    } catch (error) {
      response.statusCode = error instanceof EngineRefusal ? error.status : 500;
      response.end(JSON.stringify({ message: (error as Error).message }));
    }
  }

  #callOf(asked: string): [Answers, string] {
    for (const [pattern, work] of Object.entries(this.#calls)) {
      const [before = "", after] = pattern.split("*");
      if (after === undefined ? asked !== pattern : !asked.startsWith(before) || !asked.endsWith(after)) continue;
      return [work, asked.slice(before.length, asked.length - (after?.length ?? 0))];
    }
    throw new EngineRefusal(501, `the stub has no call ${asked}`);
  }

  #find(name: string): StubContainer {
    const found = this.#containers.find((one) => one.id === name || one.name === name);
    if (!found) throw new EngineRefusal(404, `No such container: ${name}`);
    return found;
  }

  async #create({ request, query }: Call): Promise<object> {
    const body = (await json(request)) as ContainerBody;
    const [Id, name] = [newId(), query.get("name") ?? ""];
    if (this.#containers.some((one) => one.name === name)) throw new EngineRefusal(409, `the name ${name} is in use`);
    const image = this.#images.get(body.Image);
    for (const mount of body.HostConfig?.Mounts ?? [])
      if (mount.Type === "volume") this.#volumes.set(mount.Source, mount.VolumeOptions.Labels);
    const container = new StubContainer(Id, { name, body, image, folder: join(this.#folder, Id) });
    this.#containers = [...this.#containers, container];
    return { Id };
  }

  #list(query: URLSearchParams): object[] {
    const listed = this.#containers.filter(({ body }) => matches(body.Labels, query));
    return listed.map(({ id, name, body, image }) => ({
      Id: id,
      Names: [`/${name}`],
      Labels: body.Labels,
      ImageID: image.Id,
    }));
  }

  async #remove(container: StubContainer): Promise<void> {
    await container.remove();
    this.#containers = this.#containers.filter((one) => one !== container);
  }

  async #removeImage(reference: string): Promise<void> {
    const wanted = this.#images.get(reference);
    if (this.#containers.some(({ image }) => image === wanted))
      throw new EngineRefusal(409, `the image ${reference} is in use`);
    await this.#images.remove(reference);
  }

  #removeVolume(name: string): void {
    if (this.#containers.some(({ volumes }) => volumes.includes(name)))
      throw new EngineRefusal(409, `the volume ${name} is in use`);
    if (!this.#volumes.delete(name)) throw new EngineRefusal(404, `No such volume: ${name}`);
  }
}

const packed = (folder: string): Readable =>
  spawn("tar", ["--create", "--numeric-owner", "--directory", folder, "."], { stdio: ["ignore", "pipe", "ignore"] })
    .stdout;

/** Whether something has the labels that are asked for, with their values where they are given. */
function matches(labels: Labels, query: URLSearchParams): boolean {
  const { label = [] } = JSON.parse(query.get("filters") ?? "{}") as { label?: string[] };
  return label.every((wanted) =>
    Object.entries(labels).some(([name, value]) => wanted === name || wanted === `${name}=${value}`),
  );
}
